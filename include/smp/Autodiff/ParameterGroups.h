//===- ParameterGroups.h - Parameters with settings of their own -*- C++
//-*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The groups of the key `optimizer` become what the parameters of a module say
// themselves, so that later phases know no regular expressions:
//
//   smp.parameter @bias : tensor<8xf32> {smp.lr_scale = 2.0, smp.weight_decay =
//   0.0} smp.parameter @embedding : tensor<64x8xf32> frozen
//
//===----------------------------------------------------------------------===//

#ifndef SMP_AUTODIFF_PARAMETERGROUPS_H
#define SMP_AUTODIFF_PARAMETERGROUPS_H

#include "smp/Support/Config.h"

#include "mlir/IR/BuiltinOps.h"

namespace smp {

/// Names of the attributes: the learning rate's factor, and the weight decay
/// instead of the optimizer's.
inline constexpr llvm::StringLiteral kRateScaleAttr = "smp.lr_scale";
inline constexpr llvm::StringLiteral kWeightDecayAttr = "smp.weight_decay";

/// Gives each parameter what the first group says that matches one of its
/// names. Emits an error when a group matches none.
mlir::LogicalResult applyParameterGroups(mlir::ModuleOp module,
                                         const OptimizerConfig &optimizer);

} // namespace smp

#endif // SMP_AUTODIFF_PARAMETERGROUPS_H
