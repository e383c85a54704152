//===- ProgramBuilder.cpp - Builds closed functions with bindings ---------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Autodiff/ProgramBuilder.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

BindingAttr smp::getArgumentBinding(func::FuncOp function, unsigned index) {
  return function.getArgAttrOfType<BindingAttr>(index, kBindingAttr);
}

BindingAttr smp::getResultBinding(func::FuncOp function, unsigned index) {
  return function.getResultAttrOfType<BindingAttr>(index, kBindingAttr);
}

/// The attributes of an argument or result with this binding.
static DictionaryAttr asDictionary(BindingAttr binding) {
  Builder builder(binding.getContext());
  return builder.getDictionaryAttr(builder.getNamedAttr(kBindingAttr, binding));
}

void smp::eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

ProgramBuilder::ProgramBuilder(ModuleOp module, StringRef name, Location loc)
    : builder(module.getContext()) {
  builder.setInsertionPointToEnd(module.getBody());
  function =
      func::FuncOp::create(builder, loc, name, builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
}

Value ProgramBuilder::getArgument(BindingAttr binding, Type type) {
  BlockArgument &argument = arguments[binding];
  if (!argument)
    argument = function.getBody().front().addArgument(type, getLoc());
  return argument;
}

Value ProgramBuilder::getArgument(BindingKind kind, StringRef key, Type type) {
  return getArgument(BindingAttr::get(builder.getContext(), kind, key), type);
}

void ProgramBuilder::addResult(BindingKind kind, StringRef key, Value value) {
  results.emplace_back(BindingAttr::get(builder.getContext(), kind, key),
                       value);
}

void ProgramBuilder::eraseUnusedArguments() {
  Block &block = function.getBody().front();
  arguments.remove_if([](auto &entry) { return entry.second.use_empty(); });
  block.eraseArguments(
      [](BlockArgument argument) { return argument.use_empty(); });
}

void ProgramBuilder::addReturn() {
  Block &block = function.getBody().front();
  builder.setInsertionPointToEnd(&block);
  func::ReturnOp::create(builder, getLoc(),
                         SmallVector<Value>(llvm::make_second_range(results)));
  eraseDeadOps(block);
}

func::FuncOp ProgramBuilder::finish() {
  Block &block = function.getBody().front();
  if (!block.mightHaveTerminator())
    addReturn();
  eraseUnusedArguments();
  function.setFunctionType(builder.getFunctionType(
      block.getArgumentTypes(), block.getTerminator()->getOperandTypes()));
  SmallVector<DictionaryAttr> argumentAttributes(block.getNumArguments());
  for (auto &[binding, argument] : arguments)
    argumentAttributes[argument.getArgNumber()] = asDictionary(binding);
  function.setAllArgAttrs(argumentAttributes);
  function.setAllResultAttrs(llvm::map_to_vector(
      results, [](const auto &result) { return asDictionary(result.first); }));
  return function;
}
