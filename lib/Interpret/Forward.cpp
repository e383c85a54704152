//===- Forward.cpp - Runs a model's forward graph -------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Interpret/Forward.h"
#include "Semantics.h"
#include "Steps.h"
#include "smp/Interpret/Execute.h"

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

/// The names of inputs, for messages: 'a', 'b'.
static std::string listOf(const TensorMap &tensors) {
  std::string text;
  for (const auto &[name, tensor] : tensors)
    text += (text.empty() ? "'" : ", '") + name + "'";
  return text.empty() ? "none" : text;
}

static FailureOr<std::vector<Tensor>> argumentsOf(func::FuncOp function,
                                                  const TensorMap &inputs) {
  std::vector<Tensor> arguments;
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    auto name = function.getArgAttrOfType<StringAttr>(index, kNameAttr);
    if (!name)
      return function.emitError("expects a name of argument ")
             << index << " of '" << function.getName() << "', got none";
    auto entry = inputs.find(std::string_view(name.getValue()));
    if (entry == inputs.end() && name == kRowWeight) {
      // Every row counts, unless the weights say otherwise.
      Type type = function.getArgument(index).getType();
      arguments.push_back(Tensor::filled(DataType::F32, shapeOf(type), 1));
      continue;
    }
    if (entry == inputs.end())
      return function.emitError("expects input '")
             << name.getValue() << "', got " << listOf(inputs);
    DataType type =
        dataTypeOf(cast<ShapedType>(function.getArgument(index).getType())
                       .getElementType());
    if (isFloating(type) != entry->second.isFloat())
      return function.emitError("expects input '")
             << name.getValue() << "' of type " << dataTypeName(type)
             << ", got " << dataTypeName(entry->second.type());
    arguments.push_back(entry->second);
  }
  return arguments;
}

/// The mean of each term that evaluation summed, and their sum as the loss.
static void divideSums(TensorMap &results) {
  double loss = 0;
  bool any = false;
  for (const auto &[name, value] : results) {
    StringRef term = name;
    if (!term.consume_front("eval_sum/"))
      continue;
    auto count = results.find(("eval_count/" + term).str());
    if (count == results.end() || count->second.number(0) == 0)
      continue;
    loss += value.number(0) / count->second.number(0);
    any = true;
  }
  if (any)
    results["loss"] = Tensor::scalar(DataType::F64, loss);
}

/// The joined function of a staged module, where it has none of that name.
static FailureOr<func::FuncOp> findGraph(ModuleOp module, StringRef graph,
                                         OwningOpRef<ModuleOp> &joined) {
  if (auto function = module.lookupSymbol<func::FuncOp>(graph))
    return function;
  if (module.getOps<ChunkOp>().empty())
    return module.emitError("expects a function '@")
           << graph << "' or chunks, got none";
  auto copy = joinChunks(module, graph);
  if (failed(copy))
    return failure();
  joined = std::move(*copy);
  return joined->lookupSymbol<func::FuncOp>(graph);
}

FailureOr<TensorMap> interpret::runForward(ModuleOp module, StringRef graph,
                                           const ModelState &model,
                                           const TensorMap &inputs,
                                           const ForwardOptions &options) {
  OwningOpRef<ModuleOp> joined;
  FailureOr<func::FuncOp> function = findGraph(module, graph, joined);
  if (failed(function))
    return failure();
  auto arguments = argumentsOf(*function, inputs);
  if (failed(arguments))
    return failure();
  Context context;
  context.precision = options.precision;
  context.step.seed = options.seed;
  context.parameters = &model.parameters;
  context.states = &model.states;
  auto values = execute(*function, std::move(*arguments), context);
  if (failed(values))
    return failure();
  TensorMap results;
  for (auto [index, value] : llvm::enumerate(*values)) {
    auto name = function->getResultAttrOfType<StringAttr>(index, kNameAttr);
    results[name ? name.str() : std::to_string(index)] = value;
  }
  divideSums(results);
  return results;
}
