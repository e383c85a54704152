//===- Programs.cpp - Programs of chunks and ranks on virtual ranks -------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "Semantics.h"

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

BindingAttr interpret::argumentBinding(func::FuncOp program, unsigned index) {
  auto binding = program.getArgAttrOfType<BindingAttr>(index, kBindingAttr);
  if (!binding)
    program.emitError("expects a binding of argument ")
        << index << " of '" << program.getName() << "', got none";
  return binding;
}

BindingAttr interpret::resultBinding(func::FuncOp program, unsigned index) {
  auto binding = program.getResultAttrOfType<BindingAttr>(index, kBindingAttr);
  if (!binding)
    program.emitError("expects a binding of result ")
        << index << " of '" << program.getName() << "', got none";
  return binding;
}

void RankMemory::beginStep() {
  // Sums are zeroed by the programs themselves; that is theirs to get right.
  stepValues[BindingKind::Output].clear();
  stepValues[BindingKind::Metric].clear();
  updated.clear();
  updatedState.clear();
  changed.clear();
}

static FailureOr<Tensor> found(const Launch &launch, BindingAttr binding,
                               const Tensor *tensor) {
  if (tensor)
    return *tensor;
  func::FuncOp program = launch.program;
  return program.emitError("expects a value of ")
         << binding << " for '" << program.getName() << "', microbatch "
         << launch.microbatch << ", got none";
}

static const Tensor *lookup(const TensorMap &tensors, StringRef key) {
  auto entry = tensors.find(std::string_view(key));
  return entry == tensors.end() ? nullptr : &entry->second;
}

FailureOr<Tensor> RankMemory::read(const Launch &launch, unsigned argument) {
  func::FuncOp program = launch.program;
  BindingAttr binding = argumentBinding(program, argument);
  if (!binding)
    return failure();
  StringRef key = binding.getKey();
  switch (binding.getKind()) {
  case BindingKind::Input:
    return readInput(launch, binding);
  case BindingKind::Parameter: {
    const std::string *name = nullptr;
    if (auto entry = canonical.find(std::string_view(key));
        entry != canonical.end())
      name = &entry->second;
    return found(launch, binding, name ? lookup(parameters, *name) : nullptr);
  }
  case BindingKind::State:
    return found(launch, binding, lookup(states, key));
  case BindingKind::Activation:
  case BindingKind::Cotangent:
  case BindingKind::Saved:
    return found(launch, binding, readTransient(launch, binding));
  default:
    break;
  }
  // What is summed or carried over steps starts from zero.
  const TensorMap &held = binding.getKind() == BindingKind::Optimizer
                              ? optimizer
                              : stepValues[binding.getKind()];
  if (const Tensor *tensor = lookup(held, key))
    return *tensor;
  BlockArgument value = program.getArgument(argument);
  return Tensor(elementTypeOf(value), shapeOf(value.getType()));
}

LogicalResult RankMemory::write(const Launch &launch, unsigned result,
                                Tensor value) {
  func::FuncOp program = launch.program;
  BindingAttr binding = resultBinding(program, result);
  if (!binding)
    return failure();
  std::string key = binding.getKey().str();
  switch (binding.getKind()) {
  case BindingKind::Activation:
  case BindingKind::Cotangent:
  case BindingKind::Saved:
    return writeTransient(launch, binding, std::move(value));
  case BindingKind::Parameter: {
    auto name = canonical.find(key);
    if (name == canonical.end())
      return program.emitError("expects a parameter '") << key << "', got none";
    parameters[name->second] = std::move(value);
    updated.push_back(name->second);
    return success();
  }
  case BindingKind::State:
    states[key] = changed[key] = std::move(value);
    return success();
  case BindingKind::Optimizer:
    optimizer[key] = updatedState[key] = std::move(value);
    return success();
  case BindingKind::Input:
    return program.emitError("expects no result bound to an input, got ")
           << binding;
  case BindingKind::Output:
    key = std::to_string(launch.microbatch) + "/" + key;
    break;
  default:
    break;
  }
  stepValues[binding.getKind()][key] = std::move(value);
  return success();
}

/// Saved values belong to a chunk, the others to the replica.
static MicrobatchValues::key_type keyOf(const Launch &launch,
                                        BindingAttr binding) {
  int64_t chunk =
      binding.getKind() == BindingKind::Saved ? launch.chunk : int64_t{-1};
  return {launch.microbatch, binding.getKind(), chunk, binding.getKey().str()};
}

const Tensor *SharedMemory::readTransient(const Launch &launch,
                                          BindingAttr binding) {
  auto entry = values->find(keyOf(launch, binding));
  return entry == values->end() ? nullptr : &entry->second;
}

LogicalResult SharedMemory::writeTransient(const Launch &launch,
                                           BindingAttr binding, Tensor value) {
  (*values)[keyOf(launch, binding)] = std::move(value);
  return success();
}
