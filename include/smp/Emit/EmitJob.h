//===- EmitJob.h - A scheduled module to a job folder -----------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_EMIT_EMITJOB_H
#define SMP_EMIT_EMITJOB_H

#include "smp/Support/Config.h"

#include "mlir/IR/BuiltinOps.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
}

namespace smp {

struct EmitOptions {
  std::string directory; ///< made if it is not there; old files are replaced
  Config config;
  std::string model = "model";
  /// Of one data owner, forward and backward.
  double flopsPerStep = 0;
  nlohmann::json predicted = nlohmann::json::object();
  /// The content of partition.json.
  nlohmann::json partition = nlohmann::json::object();
};

/// Bytes that a pp rank takes in a run that trains, and, where they need more
/// than training does, evaluates or generates as well.
struct MemoryReport {
  int64_t training = 0, withEvaluation = 0, withGeneration = 0;
};

/// What the summary of smp-compile prints.
struct EmitReport {
  size_t kernels = 0;               ///< distinct ones
  size_t commands = 0;              ///< of all programs
  std::vector<MemoryReport> memory; ///< by pp rank
};

/// Interfaces of the ops that become commands, and all that lowering needs.
void registerEmit(mlir::DialectRegistry &registry);

/// Decomposes the programs of the module and forms clusters (phase `lower`).
llvm::LogicalResult lowerPrograms(mlir::ModuleOp module);

/// Writes the folder of a lowered module (phase `emit`).
llvm::FailureOr<EmitReport> emitJob(mlir::ModuleOp module,
                                    const EmitOptions &options);

/// Both.
llvm::FailureOr<EmitReport> lowerAndEmit(mlir::ModuleOp module,
                                         const EmitOptions &options);

} // namespace smp

#endif // SMP_EMIT_EMITJOB_H
