//===- RandomGraph.cpp - Random models for property tests -----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Interpret/RandomGraph.h"
#include "RandomBlocks.h"

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

/// The function's arguments: tokens [B, S], features [B, S, C], labels [B, S].
static func::FuncOp createFunction(ModuleOp module, StringRef name,
                                   const RandomShape &shape) {
  Builder types(module.getContext());
  auto ints =
      RankedTensorType::get({shape.rows, shape.length}, types.getI64Type());
  auto floats = RankedTensorType::get({shape.rows, shape.length, shape.width},
                                      types.getF32Type());
  auto scalar = RankedTensorType::get({}, types.getF32Type());
  auto logits = RankedTensorType::get(
      {shape.rows * shape.length, shape.vocabulary}, types.getF32Type());
  OpBuilder builder(module.getBodyRegion());
  builder.setInsertionPointToEnd(module.getBody());
  auto function = func::FuncOp::create(
      builder, module.getLoc(), name,
      builder.getFunctionType({ints, floats, ints}, {scalar, logits}));
  const char *arguments[][2] = {
      {"tokens", "input"}, {"features", "input"}, {"labels", "label"}};
  for (auto [index, names] : llvm::enumerate(arguments)) {
    function.setArgAttr(index, kNameAttr, builder.getStringAttr(names[0]));
    function.setArgAttr(index, kRoleAttr, builder.getStringAttr(names[1]));
  }
  const char *results[][2] = {{"loss", "loss"}, {"logits", "output"}};
  for (auto [index, names] : llvm::enumerate(results)) {
    function.setResultAttr(index, kNameAttr, builder.getStringAttr(names[0]));
    function.setResultAttr(index, kRoleAttr, builder.getStringAttr(names[1]));
  }
  function.addEntryBlock();
  return function;
}

/// The body is drawn from a generator of its own, so that @train and @eval
/// differ only in dropout.
static void buildBody(ModuleOp module, func::FuncOp function,
                      const RandomShape &shape,
                      const RandomGraphOptions &options, bool training) {
  RandomBlocks blocks(module, function, shape, options.seed,
                      training && options.dropout);
  Value tokens = function.getArgument(0), features = function.getArgument(1);
  blocks.start(tokens, features);
  for (int block = 0; block < options.blocks; ++block)
    blocks.addBlock();
  blocks.finish(function.getArgument(2));
}

RandomModel interpret::buildRandomModel(MLIRContext *context,
                                        const RandomGraphOptions &options) {
  std::mt19937_64 random(options.seed ^ 0x9E3779B97F4A7C15ull);
  auto pick = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % (high - low + 1));
  };
  RandomShape shape;
  shape.rows = options.rows;
  shape.length = pick(2, 5);
  shape.heads = pick(1, 3);
  shape.width = 2 * shape.heads * pick(1, 2);
  shape.vocabulary = pick(5, 11);
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(UnknownLoc::get(context), "random");
  Builder builder(context);
  (*module)->setAttr("smp.rows", builder.getI64IntegerAttr(options.rows));
  for (bool training : {true, false}) {
    func::FuncOp function =
        createFunction(*module, training ? "train" : "eval", shape);
    buildBody(*module, function, shape, options, training);
  }
  return {std::move(module), shape.vocabulary, options.rows};
}

Tensor interpret::randomTensor(std::mt19937_64 &random, Shape shape, double low,
                               double high) {
  std::vector<double> values(elementsOf(shape));
  for (double &value : values)
    value = low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53;
  return Tensor(DataType::F32, std::move(shape), std::move(values));
}

TensorMap interpret::randomBatch(const RandomModel &model, int64_t rows,
                                 uint64_t seed) {
  std::mt19937_64 random(seed);
  auto train = model.module.get().lookupSymbol<func::FuncOp>("train");
  auto shapeOfArgument = [&](unsigned index) {
    auto type = cast<RankedTensorType>(train.getArgumentTypes()[index]);
    Shape shape(type.getShape());
    shape[0] = rows;
    return shape;
  };
  auto integers = [&](unsigned index, bool labels) {
    Tensor tensor(DataType::I64, shapeOfArgument(index));
    for (int64_t &element : tensor.mutableInts()) {
      bool ignored = labels && random() % 8 == 0;
      element =
          ignored ? -100 : static_cast<int64_t>(random() % model.vocabulary);
    }
    return tensor;
  };
  TensorMap batch;
  batch["tokens"] = integers(0, false);
  batch["features"] = randomTensor(random, shapeOfArgument(1));
  batch["features"].roundToType();
  batch["labels"] = integers(2, true);
  return batch;
}
