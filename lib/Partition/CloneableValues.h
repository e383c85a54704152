//===- CloneableValues.h - Values that are cheaper to make again than to send
//-*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_PARTITION_CLONEABLEVALUES_H
#define SMP_LIB_PARTITION_CLONEABLEVALUES_H

#include "smp/IR/SmpDialect.h"

#include "llvm/ADT/DenseMap.h"

namespace smp {

/// Decides which values each chunk makes for itself: those that depend on no
/// parameter and are integers, or depend on nothing but constants and state.
class CloneableValues {
public:
  bool isCloneable(mlir::Value value) { return classify(value).cloneable; }
  /// Of them, those that no model input decides.
  bool isConstant(mlir::Value value) {
    Kind kind = classify(value);
    return kind.cloneable && !kind.variable;
  }

private:
  struct Kind {
    bool cloneable = false;
    /// Whether a model input decides it.
    bool variable = false;
  };
  Kind classify(mlir::Value value);

  llvm::DenseMap<mlir::Value, Kind> kinds;
};

} // namespace smp

#endif // SMP_LIB_PARTITION_CLONEABLEVALUES_H
