//===- UniformValue.h - Tensors of one number -------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IR_UNIFORMVALUE_H
#define SMP_IR_UNIFORMVALUE_H

#include "mlir/IR/Value.h"
#include <optional>

namespace smp {

/// The number that every element of a tensor is, seen through expands, reshapes
/// and integer sums of a fill or a constant; 0 or 1 for i1. None where the elements
/// differ or are not known, or where a double does not hold the number.
std::optional<double> uniformValue(mlir::Value value);

} // namespace smp

#endif // SMP_IR_UNIFORMVALUE_H
