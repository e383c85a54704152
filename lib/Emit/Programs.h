//===- Programs.h - The programs of a scheduled module ----------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_EMIT_PROGRAMS_H
#define SMP_LIB_EMIT_PROGRAMS_H

#include "smp/IR/SmpDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <string>
#include <vector>

namespace smp::emit {

/// One function, and where it belongs.
struct Program {
  mlir::func::FuncOp function;
  std::string name;   ///< "forward", "update", ...
  int64_t chunk = -1; ///< -1: of the rank
  int64_t rank = 0;

  BindingAttr argument(unsigned i) const {
    return mlir::cast<BindingAttr>(
        mlir::func::FuncOp(function).getArgAttr(i, kBindingAttr));
  }
  BindingAttr result(unsigned i) const {
    return mlir::cast<BindingAttr>(
        mlir::func::FuncOp(function).getResultAttr(i, kBindingAttr));
  }
};

/// All programs: those of chunks by chunk, then those of ranks.
struct Programs {
  mlir::ModuleOp module;
  std::vector<Program> all;
  std::vector<int64_t> rankOfChunk;
  int64_t ranks = 0;
  std::vector<ParameterOp> parameters;          ///< in the order of the module
  std::map<std::string, std::string> canonical; ///< name or alias -> name

  /// Fails, with a diagnostic, on a program that is not there or an argument
  /// or result without binding.
  static llvm::FailureOr<Programs> collect(mlir::ModuleOp module);
};

} // namespace smp::emit

#endif // SMP_LIB_EMIT_PROGRAMS_H
