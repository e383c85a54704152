//===- Parameters.h - Parameters by any of their names ----------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_AUTODIFF_PARAMETERS_H
#define SMP_LIB_AUTODIFF_PARAMETERS_H

#include "smp/IR/SmpDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace smp {

class ParameterTable {
public:
  explicit ParameterTable(mlir::ModuleOp module);

  /// The parameter with this name or alias, or null.
  ParameterOp lookup(llvm::StringRef name) const { return byName.lookup(name); }

  /// Whether gradients of the parameter are wanted.
  bool isTrained(llvm::StringRef name) const {
    ParameterOp parameter = lookup(name);
    return parameter && !parameter.getFrozen();
  }

  /// All parameters, in the order of the module.
  mlir::ArrayRef<ParameterOp> getAll() const { return all; }

private:
  mlir::SmallVector<ParameterOp> all;
  llvm::StringMap<ParameterOp> byName;
};

} // namespace smp

#endif // SMP_LIB_AUTODIFF_PARAMETERS_H
