//===- Phases.h - The phases of smp-compile -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_PIPELINES_PHASES_H
#define SMP_PIPELINES_PHASES_H

#include "smp/Emit/EmitJob.h"
#include "smp/Partition/PartitionModule.h"
#include "smp/Support/Config.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <optional>
#include <string>

namespace smp {

/// In order. `--stop-after`, `--start-from` and `--dump-phases` name them.
enum class Phase {
  Import,
  Specialize,
  Shard,
  Partition,
  Stage,
  Differentiate,
  Distribute,
  Schedule,
  Lower,
  Emit
};
inline constexpr int kPhaseCount = static_cast<int>(Phase::Emit) + 1;

std::string_view phaseName(Phase phase);
std::optional<Phase> parsePhase(std::string_view name);

struct CompileOptions {
  Config config;
  std::string model = "model"; ///< its name in the job
  std::string jobDirectory;    ///< for `Emit`
  /// The first phase to run, on a module that was dumped after the one before.
  Phase startFrom = Phase::Import;
  Phase stopAfter = Phase::Emit;
  /// Folder for the module after each phase; empty for none.
  std::string dumpDirectory;
  /// Called after each phase with the seconds it took.
  std::function<void(Phase, double)> progress;
};

struct CompileReport {
  int64_t rows = 0; ///< of a microbatch
  std::optional<PartitionReport> partition;
  std::optional<EmitReport> job;
};

/// Registers what the phases need in a context: dialects and op interfaces.
void registerCompiler(mlir::DialectRegistry &registry);

/// Runs the phases from `startFrom` to `stopAfter` on an imported module.
/// After each the module is verified. Emits an error when one fails.
llvm::FailureOr<CompileReport> compile(mlir::ModuleOp module,
                                       const CompileOptions &options);

} // namespace smp

#endif // SMP_PIPELINES_PHASES_H
