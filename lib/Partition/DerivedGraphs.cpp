//===- DerivedGraphs.cpp - The graphs of evaluation and prediction -*- C++
//-*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DerivedGraphs.h"

#include "CloneableValues.h"
#include "LossTerms.h"
#include "NeighbourBuilder.h"
#include "RowWeights.h"
#include "smp/Autodiff/Differentiate.h"
#include "smp/Autodiff/ProgramBuilder.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace smp;

/// A private copy of `train` beside it.
static func::FuncOp copyOf(func::FuncOp train, StringRef name) {
  func::FuncOp copy = train.clone();
  copy.setName(name);
  train->getParentOfType<ModuleOp>().push_back(copy);
  return copy;
}

/// Puts the operand of an op in the place of its result. Where that crosses
/// chunks, the operand does so instead, under the same number.
static void bypass(Operation *op) {
  Value operand = op->getOperand(0);
  Operation *source = operand.getDefiningOp();
  Attribute activation = op->getAttr(kActivationsAttr);
  if (source && activation && source->getNumResults() == 1 &&
      !source->hasAttr(kActivationsAttr))
    source->setAttr(kActivationsAttr, activation);
  op->getResult(0).replaceAllUsesWith(operand);
}

/// Without a backward pass nothing stops: a term whose gradient is not wanted
/// counts in the value of the loss.
static void ignoreStops(func::FuncOp graph) {
  graph.walk([](StopGradientOp stop) { bypass(stop); });
}

/// Makes random ops do nothing.
static void removeRandomness(func::FuncOp graph) {
  graph.walk([](DropoutOp dropout) { bypass(dropout); });
  graph.walk([](AttentionOp attention) {
    attention.setDropout(APFloat(0.0));
    attention.setSite(0);
  });
}

/// Makes batch norms use their running averages, which then stay as they are.
static void useRunningAverages(func::FuncOp graph) {
  graph.walk([](BatchNormOp norm) {
    OpBuilder builder(norm);
    auto inference = BatchNormInferenceOp::create(
        builder, norm.getLoc(), norm.getOperand(), norm.getWeight(),
        norm.getBias(), norm.getRunningMean(), norm.getRunningVariance(),
        norm.getEpsilonAttr(), norm.getScopeAttr());
    inference->setAttr(kChunkAttr, norm->getAttr(kChunkAttr));
    if (auto known = norm->getAttrOfType<DenseI64ArrayAttr>(kActivationsAttr))
      inference->setAttr(kActivationsAttr,
                         builder.getDenseI64ArrayAttr({known[0]}));
    norm.getResult().replaceAllUsesWith(inference.getResult());
    norm.getNewRunningMean().replaceAllUsesWith(norm.getRunningMean());
    norm.getNewRunningVariance().replaceAllUsesWith(norm.getRunningVariance());
    norm.erase();
  });
}

/// Replaces the results of `graph` by these.
static void setResults(func::FuncOp graph,
                       ArrayRef<std::pair<Value, StringRef>> results,
                       StringRef role) {
  Operation *terminator = graph.getBody().front().getTerminator();
  SmallVector<Value> values(llvm::make_first_range(results));
  terminator->setOperands(values);
  graph.setFunctionType(FunctionType::get(graph.getContext(),
                                          graph.getArgumentTypes(),
                                          ValueRange(values).getTypes()));
  Builder builder(graph.getContext());
  SmallVector<Attribute> attributes;
  for (auto [value, name] : results)
    attributes.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr(kNameAttr, builder.getStringAttr(name)),
         builder.getNamedAttr(kRoleAttr, builder.getStringAttr(role))}));
  graph.setResAttrsAttr(builder.getArrayAttr(attributes));
  eraseDeadOps(graph.getBody().front());
}

/// What a loss grows by with each of its terms: numbers of the model, since a
/// loss is a weighted sum of its terms. Null for what is not part of it. A sum
/// that is a term may be that of a mean as well, which is another term.
static LogicalResult weightsOf(ArrayRef<Value> terms, ArrayRef<Value> losses,
                               NeighbourBuilder &b,
                               SmallVectorImpl<Value> &weights) {
  SmallVector<OpOperand *> cuts;
  for (Value term : terms)
    for (OpOperand &use : llvm::make_early_inc_range(term.getUses()))
      if (isa<MeanLossOp>(use.getOwner())) {
        NeighbourBuilder before(use.getOwner());
        use.set(before.create<StopGradientOp>(term));
        cuts.push_back(&use);
      }
  Block *block = b.builder.getInsertionBlock();
  Operation *before = block->getTerminator()->getPrevNode();
  SmallVector<Value> seeds;
  for (Value loss : losses)
    seeds.push_back(b.fill(cast<RankedTensorType>(loss.getType()), 1.0));
  LogicalResult built =
      buildDerivatives(b.builder, losses, seeds, terms, weights);
  for (OpOperand *cut : cuts) {
    auto stop = cut->get().getDefiningOp<StopGradientOp>();
    cut->set(stop.getOperand());
    stop.erase();
  }
  if (failed(built))
    return failure();
  for (Operation *op = before->getNextNode(); op != block->getTerminator();
       op = op->getNextNode())
    b.adopt(op);
  return success();
}

/// The parts of the loss that evaluation adds up over a file: each term's sum,
/// times its weight, and its count. A sum counts nothing.
static LogicalResult
addMetrics(func::FuncOp graph, ArrayRef<LossTerm> terms,
           SmallVectorImpl<std::pair<Value, std::string>> &metrics) {
  SmallVector<Value> losses = lossesOf(graph), values, weights;
  for (const LossTerm &term : terms)
    values.push_back(term.value);
  // Where the last part of a loss is made, all of its terms are known.
  auto chunkOf = [](Value value) {
    Operation *op = value.getDefiningOp();
    return op ? op->getAttrOfType<IntegerAttr>(kChunkAttr).getInt() : 0;
  };
  Value last = *llvm::max_element(
      losses, [&](Value a, Value b) { return chunkOf(a) < chunkOf(b); });
  NeighbourBuilder b(last.getDefiningOp());
  b.builder.setInsertionPoint(graph.getBody().front().getTerminator());
  bool isWhole = losses.size() == 1 && values == losses;
  if (!isWhole && failed(weightsOf(values, losses, b, weights)))
    return failure();
  // A loss that is flat in a term, as one rounded is, is no sum of it.
  if (llvm::is_contained(weights, Value()))
    return success();
  auto scalar = RankedTensorType::get({}, b.builder.getF64Type());
  for (auto [index, term] : llvm::enumerate(terms)) {
    Value sum = b.create<CastOp>(scalar, term.sum);
    if (!isWhole)
      sum = b.create<MulOp>(sum, b.create<CastOp>(scalar, weights[index]));
    metrics.emplace_back(sum, "eval_sum/" + term.name);
    if (term.count)
      metrics.emplace_back(b.create<CastOp>(scalar, term.count),
                           "eval_count/" + term.name);
  }
  return success();
}

FailureOr<func::FuncOp> smp::deriveEvaluate(func::FuncOp train, int64_t rows) {
  func::FuncOp graph = copyOf(train, "evaluate");
  removeRandomness(graph);
  ignoreStops(graph);
  useRunningAverages(graph);
  (void)weighRows(graph, rows);
  SmallVector<std::pair<Value, std::string>> metrics;
  auto terms = findLossTerms(graph);
  if (succeeded(terms) && !terms->empty() &&
      failed(addMetrics(graph, *terms, metrics)))
    return failure();
  SmallVector<std::pair<Value, StringRef>> results;
  for (const auto &[value, name] : metrics)
    results.emplace_back(value, name);
  setResults(graph, results, kMetricRole);
  return graph;
}

func::FuncOp smp::derivePredict(func::FuncOp train) {
  func::FuncOp graph = copyOf(train, "predict");
  removeRandomness(graph);
  useRunningAverages(graph);
  SmallVector<std::pair<Value, StringRef>> results;
  Operation *terminator = graph.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
    auto role = train.getResultAttrOfType<StringAttr>(index, kRoleAttr);
    auto name = train.getResultAttrOfType<StringAttr>(index, kNameAttr);
    if (role && name && role.getValue() == "output")
      results.emplace_back(value, name.getValue());
  }
  setResults(graph, results, "output");
  return graph;
}

FailureOr<func::FuncOp> smp::deriveCount(func::FuncOp train) {
  func::FuncOp graph = copyOf(train, "count");
  // The number of labels does not need the logits.
  graph.walk([](CrossEntropyOp loss) {
    if (loss.getCount().use_empty())
      return;
    NeighbourBuilder b(loss);
    loss.getCount().replaceAllUsesWith(b.create<LabelCountOp>(
        RankedTensorType::get({}, b.builder.getI64Type()), loss.getLabels(),
        loss.getIgnoreIndex(), loss.getScope()));
  });
  SmallVector<std::pair<Value, StringRef>> results;
  CloneableValues data;
  WalkResult walk = graph.walk([&](MeanLossOp loss) {
    if (!data.isCloneable(loss.getCount())) {
      loss.emitError("expects a count that depends on the data only, got one "
                     "that depends on parameters");
      return WalkResult::interrupt();
    }
    results.emplace_back(loss.getCount(), loss.getTerm());
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  setResults(graph, results, "count");
  return graph;
}
