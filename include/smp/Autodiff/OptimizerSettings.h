//===- OptimizerSettings.h - What an update does ----------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The optimizer as the attribute `smp.optimizer` of a module:
//
//   {name = "adamw", beta1 = 0.9, beta2 = 0.999, epsilon = 1.0e-8,
//    weight_decay = 0.01, gradient_clipping = 1.0}
//   {name = "adam", weight_decay = 0.0}
//   {name = "sgd", momentum = 0.9, weight_decay = 0.0}
//
// All members but the name may be left out; the defaults are PyTorch's, and
// without `gradient_clipping` gradients are not clipped. The learning rate is a
// number of the step and not here.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_AUTODIFF_OPTIMIZERSETTINGS_H
#define SMP_AUTODIFF_OPTIMIZERSETTINGS_H

#include "smp/Support/Config.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace smp {

/// Name of the attribute.
inline constexpr llvm::StringLiteral kOptimizerAttr = "smp.optimizer";

struct OptimizerSettings {
  OptimizerKind kind = OptimizerKind::AdamW;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double weightDecay = 0.01;
  double momentum = 0.0;
  std::optional<double> gradientClipping;

  /// Reads the attribute of `module`; AdamW when it has none.
  static mlir::FailureOr<OptimizerSettings> read(mlir::ModuleOp module);

  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context) const;
};

} // namespace smp

#endif // SMP_AUTODIFF_OPTIMIZERSETTINGS_H
