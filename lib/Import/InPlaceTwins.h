//===- InPlaceTwins.h - What computes a mutation's new value ----*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operator of ATen that changes its operand ends in an underscore, and the
// same without it gives the new value: that is how PyTorch defines them. A few
// names and argument names differ.
//
//   | in place            | twin                   |
//   |---------------------|------------------------|
//   | aten.add_.Tensor    | aten.add.Tensor        |
//   | aten.__iand__.Tensor| aten.__and__.Tensor    |
//   | aten.pow_.Scalar    | aten.pow.Tensor_Scalar |
//   | aten.zero_.default  | aten.zero.default      |
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_IMPORT_INPLACETWINS_H
#define SMP_LIB_IMPORT_INPLACETWINS_H

#include "smp/Import/ExportedGraph.h"

namespace smp::pt2 {

struct Twin {
  std::string target;
  /// The name that the twin has for the operand `self`.
  std::string operand = "self";
  /// Whether it computes in the wider of its operands' types, to be converted
  /// back to the changed one's.
  bool promotes = true;
  /// Why there is none.
  std::string refusal;
};

/// None for an operator that changes nothing.
std::optional<Twin> functionalTwin(std::string_view target);

/// The type that the twin computes in.
std::optional<DataType> computedType(const Node &node, const Twin &twin,
                                     const TensorMetas &tensors);

} // namespace smp::pt2

#endif // SMP_LIB_IMPORT_INPLACETWINS_H
