//===- Manifest.h - job.json ------------------------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_EMIT_MANIFEST_H
#define SMP_LIB_EMIT_MANIFEST_H

#include "Arenas.h"
#include "smp/Emit/EmitJob.h"

namespace smp::emit {

/// Attribute of the module: rows of the table that the tokens choose from.
inline constexpr llvm::StringLiteral kVocabularyAttr = "smp.vocabulary";

/// Attribute of a program's argument: the integers of this input are below it.
inline constexpr llvm::StringLiteral kBelowAttr = "smp.below";

/// Likewise: the label that no loss counts.
inline constexpr llvm::StringLiteral kIgnoredAttr = "smp.ignored";

/// The role of a program's argument that is an input.
std::string roleOf(mlir::func::FuncOp function, unsigned argument);

/// A model input and who reads it.
struct JobInput {
  std::string name, role;
  mlir::RankedTensorType type;
  int64_t below = 0;              ///< integers must be below it; 0: not known
  std::optional<int64_t> ignored; ///< the label that no loss counts
  std::map<int64_t, unsigned> consumers; ///< pp rank -> arena
};
std::vector<JobInput> collectInputs(const Programs &programs,
                                    const std::vector<RankArenas> &ranks);

/// The parts of job.json that come from the module; `constants` receives the
/// values of large states.
nlohmann::json manifest(const Programs &programs,
                        const std::vector<RankArenas> &ranks,
                        const std::vector<JobInput> &inputs,
                        const EmitOptions &options, std::string &constants);

} // namespace smp::emit

#endif // SMP_LIB_EMIT_MANIFEST_H
