//===- DerivedGraphs.cpp - The graphs of evaluation and prediction -*- C++
//-*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DerivedGraphs.h"

#include "CloneableValues.h"
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

/// Makes random ops do nothing. Where a dropout's result crosses chunks, its
/// operand does so instead, in the same place.
static void removeRandomness(func::FuncOp graph) {
  graph.walk([](DropoutOp dropout) {
    Operation *source = dropout.getOperand().getDefiningOp();
    Attribute activation = dropout->getAttr(kActivationsAttr);
    if (source && activation && source->getNumResults() == 1 &&
        !source->hasAttr(kActivationsAttr))
      source->setAttr(kActivationsAttr, activation);
    dropout.replaceAllUsesWith(dropout.getOperand());
  });
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

/// Whether a term is of data only: the share of the batch that a penalty is
/// multiplied by. Evaluation reports losses.
static bool isShare(MeanLossOp loss) {
  return CloneableValues().isCloneable(loss.getSum());
}

namespace {

/// Builds ops in the chunk and scope of another op, before it.
class NeighbourBuilder {
public:
  explicit NeighbourBuilder(Operation *neighbour)
      : builder(neighbour), neighbour(neighbour) {}

  template <typename OpTy, typename... Args> Value create(Args &&...args) {
    OpTy op =
        OpTy::create(builder, neighbour->getLoc(), std::forward<Args>(args)...);
    copyScope(neighbour, op);
    op->setAttr(kChunkAttr, neighbour->getAttr(kChunkAttr));
    return op->getResult(0);
  }
  Value fill(RankedTensorType type, double value) {
    return create<FillOp>(type, APFloat(value), ValueRange());
  }

  OpBuilder builder;

private:
  Operation *neighbour;
};

/// Leaves rows of weight 0 out of the loss terms of a graph.
class RowWeights {
public:
  RowWeights(func::FuncOp graph, int64_t rows) : graph(graph), rows(rows) {}

  LogicalResult apply();

private:
  Value weight();
  /// The weight of the row that each place of `type` belongs to, whose first
  /// dim goes over the rows.
  Value weightOfPlaces(NeighbourBuilder &b, ArrayRef<int64_t> shape);
  void weigh(CrossEntropyOp loss);
  LogicalResult weigh(MeanLossOp loss);

  func::FuncOp graph;
  int64_t rows;
  Value argument;
};

} // namespace

Value RowWeights::weight() {
  if (argument)
    return argument;
  Builder builder(graph.getContext());
  auto type = RankedTensorType::get({rows}, builder.getF32Type());
  unsigned index = graph.getNumArguments();
  DictionaryAttr attributes = builder.getDictionaryAttr(
      {builder.getNamedAttr(kNameAttr, builder.getStringAttr(kRowWeight)),
       builder.getNamedAttr(kRoleAttr, builder.getStringAttr(kRowWeight))});
  (void)graph.insertArgument(index, type, attributes, graph.getLoc());
  return argument = graph.getArgument(index);
}

Value RowWeights::weightOfPlaces(NeighbourBuilder &b, ArrayRef<int64_t> shape) {
  Type element = b.builder.getF32Type();
  int64_t elements = ShapedType::getNumElements(shape);
  auto rectangle = RankedTensorType::get({rows, elements / rows}, element);
  Value expanded = b.create<ExpandOp>(
      rectangle, weight(), b.builder.getDenseI64ArrayAttr({0}), ValueRange());
  auto type = RankedTensorType::get(shape, element);
  if (type == rectangle)
    return expanded;
  return b.create<ReshapeOp>(type, expanded, ValueRange());
}

void RowWeights::weigh(CrossEntropyOp loss) {
  NeighbourBuilder b(loss);
  auto labels = cast<RankedTensorType>(loss.getLabels().getType());
  Value weights = weightOfPlaces(b, labels.getShape());
  Value zero = b.fill(cast<RankedTensorType>(weights.getType()), 0.0);
  Value counts = b.create<CompareOp>(ComparePredicate::GT, weights, zero);
  Value ignored = b.fill(labels, static_cast<int64_t>(loss.getIgnoreIndex()));
  loss.getLabelsMutable().assign(
      b.create<SelectOp>(labels, counts, loss.getLabels(), ignored));
}

/// A sum over all places of a value whose first dim goes over the rows: the
/// places are weighted, and counted.
LogicalResult RowWeights::weigh(MeanLossOp loss) {
  if (loss.getSum().getDefiningOp<CrossEntropyOp>() || isShare(loss))
    return success();
  auto sum = loss.getSum().getDefiningOp<ReduceSumOp>();
  auto type = sum ? cast<RankedTensorType>(sum.getOperand().getType())
                  : RankedTensorType();
  bool wholeRows =
      type && type.getRank() > 0 &&
      sum.getDims().size() == static_cast<size_t>(type.getRank()) &&
      type.getDimSize(0) % rows == 0;
  if (!wholeRows)
    return loss.emitError("expects a loss that is a sum over rows, so that "
                          "evaluation can leave out padded ones, got another");
  NeighbourBuilder b(sum);
  Value weights = weightOfPlaces(b, type.getShape());
  Value same = weights;
  if (weights.getType() != type)
    same = b.create<CastOp>(type, weights);
  sum.getOperandMutable().assign(b.create<MulOp>(sum.getOperand(), same));
  auto integers =
      RankedTensorType::get(type.getShape(), b.builder.getI64Type());
  Value ones = b.create<CastOp>(integers, weights);
  loss.getCountMutable().assign(b.create<ReduceSumOp>(ones, sum.getDims()));
  return success();
}

LogicalResult RowWeights::apply() {
  graph.walk([&](CrossEntropyOp loss) { weigh(loss); });
  WalkResult result = graph.walk([&](MeanLossOp loss) {
    return failed(weigh(loss)) ? WalkResult::interrupt()
                               : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

FailureOr<func::FuncOp> smp::deriveEvaluate(func::FuncOp train, int64_t rows) {
  func::FuncOp graph = copyOf(train, "evaluate");
  removeRandomness(graph);
  useRunningAverages(graph);
  if (failed(RowWeights(graph, rows).apply()))
    return failure();
  SmallVector<std::string> names;
  SmallVector<Value> values;
  graph.walk([&](MeanLossOp loss) {
    if (isShare(loss))
      return;
    NeighbourBuilder b(loss);
    auto scalar = RankedTensorType::get({}, b.builder.getF64Type());
    values.push_back(b.create<CastOp>(scalar, loss.getSum()));
    names.push_back(("eval_sum/" + loss.getTerm()).str());
    values.push_back(b.create<CastOp>(scalar, loss.getCount()));
    names.push_back(("eval_count/" + loss.getTerm()).str());
  });
  if (names.size() > 2)
    emitWarning(train.getLoc(), "expects a loss of one term to evaluate, got ")
        << names.size() / 2 << ": evaluation reports the mean of '"
        << StringRef(names.front()).split('/').second
        << "' alone, and training their sum";
  SmallVector<std::pair<Value, StringRef>> results;
  for (auto [value, name] : llvm::zip_equal(values, names))
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
