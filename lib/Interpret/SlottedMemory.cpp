//===- SlottedMemory.cpp - Values in the slots that a schedule names ------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleRunner.h"

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

/// The arenas in which a launch may find or leave values of a kind: its stash,
/// or the edges of activations or cotangents that lead to its chunk or from it.
static SmallVector<StringRef> arenasOf(const Launch &launch, BindingKind kind,
                                       bool incoming) {
  SmallVector<StringRef> arenas;
  if (!launch.slots)
    return arenas;
  StringRef prefix = kind == BindingKind::Saved        ? "stash."
                     : kind == BindingKind::Activation ? "boundary.act."
                                                       : "boundary.cot.";
  std::string chunk = "c" + std::to_string(launch.chunk);
  for (NamedAttribute entry : launch.slots) {
    StringRef arena = entry.getName().getValue();
    bool mine = kind == BindingKind::Saved ||
                (incoming ? arena.ends_with("-" + chunk)
                          : arena.contains("." + chunk + "-"));
    if (arena.starts_with(prefix) && mine)
      arenas.push_back(arena);
  }
  return arenas;
}

static int64_t slotIn(const Launch &launch, StringRef arena) {
  return launch.slots.getAs<IntegerAttr>(arena).getInt();
}

const Tensor *SlottedMemory::find(const Launch &launch, StringRef arena,
                                  BindingAttr binding) {
  Slot &held = slot(arena, slotIn(launch, arena));
  auto entry = held.find({binding.getKind(), binding.getKey().str()});
  if (entry == held.end() || entry->second.microbatch != launch.microbatch)
    return nullptr;
  return &entry->second.value;
}

const Tensor *SlottedMemory::readTransient(const Launch &launch,
                                           BindingAttr binding) {
  for (StringRef arena : arenasOf(launch, binding.getKind(), true))
    if (const Tensor *value = find(launch, arena, binding))
      return value;
  return nullptr;
}

LogicalResult SlottedMemory::writeTransient(const Launch &launch,
                                            BindingAttr binding, Tensor value) {
  func::FuncOp program = launch.program;
  bool written = false;
  for (StringRef arena : arenasOf(launch, binding.getKind(), false)) {
    slot(arena,
         slotIn(launch, arena))[{binding.getKind(), binding.getKey().str()}] = {
        launch.microbatch, value};
    written = true;
  }
  if (written)
    return success();
  return program.emitError("expects a slot for ")
         << binding << " of '" << program.getName() << "', got none";
}

FailureOr<Tensor> SlottedMemory::readInput(const Launch &launch,
                                           BindingAttr binding) {
  func::FuncOp program = launch.program;
  std::string arena = ("input." + binding.getKey()).str();
  const Tensor *value = nullptr;
  if (launch.slots && launch.slots.get(arena))
    value = find(launch, arena, binding);
  if (value)
    return *value;
  return program.emitError("expects input '")
         << binding.getKey() << "' of microbatch " << launch.microbatch
         << " in a slot of '" << arena << "', got none";
}
