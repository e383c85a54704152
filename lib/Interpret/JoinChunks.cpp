//===- JoinChunks.cpp - One function from the programs of chunks ----------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "mlir/IR/IRMapping.h"
#include "smp/Interpret/Gradient.h"

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

namespace {

/// Builds the joined function by appending one program after the other.
class Joiner {
public:
  Joiner(ModuleOp module, StringRef name)
      : module(module), builder(module.getBodyRegion()) {
    builder.setInsertionPointToEnd(module.getBody());
    joined = func::FuncOp::create(builder, module.getLoc(), name,
                                  builder.getFunctionType({}, {}));
    builder.setInsertionPointToStart(joined.addEntryBlock());
    aliases = canonicalNames(module);
  }

  LogicalResult append(func::FuncOp program);
  void finish();

private:
  FailureOr<Value> argument(func::FuncOp program, unsigned index);
  FailureOr<Value> bound(BindingAttr binding, BlockArgument argument);
  Value input(StringRef name, Type type);
  void result(BindingAttr binding, Value value);

  ModuleOp module;
  OpBuilder builder;
  func::FuncOp joined;
  std::map<std::string, std::string, std::less<>> aliases;
  llvm::StringMap<Value> inputs, activations;
  SmallVector<StringRef> inputNames;
  SmallVector<std::pair<BindingAttr, Value>> outputs;
  Value loss;
};

} // namespace

Value Joiner::input(StringRef name, Type type) {
  Value &value = inputs[name];
  if (!value) {
    value = joined.getBody().front().addArgument(type, joined.getLoc());
    inputNames.push_back(name);
  }
  return value;
}

FailureOr<Value> Joiner::bound(BindingAttr binding, BlockArgument argument) {
  Location loc = argument.getLoc();
  Type type = argument.getType();
  StringRef key = binding.getKey();
  switch (binding.getKind()) {
  case BindingKind::Input:
    return input(key, type);
  case BindingKind::Parameter: {
    auto canonical = aliases.find(std::string_view(key));
    if (canonical == aliases.end())
      return emitError(loc) << "expects a parameter '" << key << "', got none";
    return GetParameterOp::create(
               builder, loc, type,
               FlatSymbolRefAttr::get(builder.getContext(), canonical->second),
               builder.getStringAttr(key))
        .getResult();
  }
  case BindingKind::State:
    return GetStateOp::create(builder, loc, type,
                              FlatSymbolRefAttr::get(builder.getContext(), key))
        .getResult();
  case BindingKind::Activation:
    if (Value value = activations.lookup(key))
      return value;
    return emitError(loc) << "expects activation '" << key
                          << "' from an earlier chunk, got none";
  case BindingKind::Loss:
  case BindingKind::Metric:
    return fillLike(builder, argument, 0);
  default:
    return emitError(loc) << "expects an argument of a program before "
                             "differentiation, got "
                          << binding;
  }
}

FailureOr<Value> Joiner::argument(func::FuncOp program, unsigned index) {
  auto binding = program.getArgAttrOfType<BindingAttr>(index, kBindingAttr);
  if (!binding)
    return program.emitError("expects a binding of argument ")
           << index << " of '" << program.getName() << "', got none";
  return bound(binding, program.getArgument(index));
}

void Joiner::result(BindingAttr binding, Value value) {
  if (binding.getKind() == BindingKind::Activation)
    activations[binding.getKey()] = value;
  else if (binding.getKind() == BindingKind::Loss)
    loss = loss ? AddOp::create(builder, value.getLoc(), loss, value) : value;
  else
    outputs.push_back({binding, value});
}

LogicalResult Joiner::append(func::FuncOp program) {
  IRMapping mapping;
  for (unsigned index = 0; index < program.getNumArguments(); ++index) {
    FailureOr<Value> value = argument(program, index);
    if (failed(value))
      return failure();
    mapping.map(program.getArgument(index), *value);
  }
  Block &body = program.getBody().front();
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping);
  for (auto [index, value] :
       llvm::enumerate(body.getTerminator()->getOperands())) {
    auto binding =
        program.getResultAttrOfType<BindingAttr>(index, kBindingAttr);
    if (!binding)
      return program.emitError("expects a binding of result ")
             << index << " of '" << program.getName() << "', got none";
    result(binding, mapping.lookupOrDefault(value));
  }
  return success();
}

void Joiner::finish() {
  SmallVector<Value> values;
  if (loss)
    values.push_back(loss);
  for (auto &[binding, value] : outputs)
    values.push_back(value);
  func::ReturnOp::create(builder, joined.getLoc(), values);
  joined.setType(builder.getFunctionType(
      joined.getBody().front().getArgumentTypes(), TypeRange(values)));
  for (auto [index, name] : llvm::enumerate(inputNames))
    joined.setArgAttr(index, kNameAttr, builder.getStringAttr(name));
  unsigned index = 0;
  if (loss) {
    joined.setResultAttr(index, kNameAttr, builder.getStringAttr("loss"));
    joined.setResultAttr(index++, kRoleAttr, builder.getStringAttr("loss"));
  }
  for (auto &[binding, value] : outputs) {
    if (binding.getKind() == BindingKind::State)
      joined.setResultAttr(index, kRoleAttr, builder.getStringAttr("state"));
    joined.setResultAttr(index++, kNameAttr,
                         builder.getStringAttr(binding.getKey()));
  }
}

/// The program of a chunk that a graph consists of.
static std::optional<StringRef> programOf(ChunkOp chunk, StringRef graph) {
  if (graph == "eval")
    return chunk.getEvaluate();
  if (graph == "predict")
    return chunk.getPredict();
  return chunk.getForward();
}

FailureOr<OwningOpRef<ModuleOp>> interpret::joinChunks(ModuleOp module,
                                                       StringRef graph) {
  OwningOpRef<ModuleOp> copy = module.clone();
  SmallVector<ChunkOp> chunks(copy->getOps<ChunkOp>());
  llvm::sort(chunks, [](ChunkOp lhs, ChunkOp rhs) {
    return lhs.getIndex() < rhs.getIndex();
  });
  Joiner joiner(*copy, graph);
  for (ChunkOp chunk : chunks) {
    std::optional<StringRef> name = programOf(chunk, graph);
    if (!name)
      continue;
    auto program = copy->lookupSymbol<func::FuncOp>(*name);
    if (!program)
      return chunk.emitError("expects a function '@") << *name << "', got none";
    if (failed(joiner.append(program)))
      return failure();
  }
  joiner.finish();
  return copy;
}
