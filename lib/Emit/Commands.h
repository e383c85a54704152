//===- Commands.h - The commands of one program -----------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_EMIT_COMMANDS_H
#define SMP_LIB_EMIT_COMMANDS_H

#include "Arenas.h"
#include "smp/Codegen/KernelLibrary.h"

#include "llvm/ADT/DenseMap.h"

#include <nlohmann/json.hpp>
#include <vector>

namespace smp::emit {

/// A command before its waits are known.
struct Command {
  nlohmann::json fields; ///< kind, queue and what the kind has
  std::vector<Place> reads, writes;
  mlir::Location location;
  std::string scope;
};

/// The groups of a job, numbered as they are met.
class Groups {
public:
  unsigned indexOf(GroupAttr group);
  nlohmann::json toJson() const;

private:
  std::vector<GroupAttr> groups;
};

/// What appending a command may use.
class CommandList {
public:
  CommandList(codegen::KernelLibrary &kernels, Groups &groups,
              const llvm::DenseMap<mlir::Value, Place> &places)
      : kernels(kernels), groups(groups), places(places) {}

  const Place &placeOf(mlir::Value value) const {
    return places.find(value)->second;
  }
  void append(mlir::Operation *op, nlohmann::json fields,
              std::vector<Place> reads, std::vector<Place> writes,
              llvm::StringRef scope = "");
  void appendCopy(mlir::Location location, const Place &from, const Place &to);
  void appendFill(mlir::Operation *op, const Place &to);

  codegen::KernelLibrary &kernels;
  Groups &groups;
  std::vector<Command> commands;

private:
  const llvm::DenseMap<mlir::Value, Place> &places;
};

/// Merges neighbouring sums over one group, and neighbouring fills, whose
/// ranges touch but for padding.
std::vector<Command> mergeCommands(std::vector<Command> commands);

/// {"commands": [...]} with the fewest waits that order all conflicts.
nlohmann::json programToJson(const std::vector<Command> &commands);

} // namespace smp::emit

#include "smp/Emit/EmitInterfaces.h.inc"

#endif // SMP_LIB_EMIT_COMMANDS_H
