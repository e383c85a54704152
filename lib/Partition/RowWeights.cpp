//===- RowWeights.cpp - Rows that no loss counts --------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowWeights.h"

#include "LossTerms.h"
#include "NeighbourBuilder.h"
#include "RowStrides.h"
#include "smp/IR/UniformValue.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

namespace {

/// Leaves rows of weight 0 out of the loss terms of a graph. Whether a row
/// counts is an integer, so that what labels and counts need can be made in any
/// chunk.
class RowWeights {
public:
  RowWeights(func::FuncOp graph, int64_t rows)
      : graph(graph), rows(rows), strides(rows) {}

  /// Whether the rows of a term can be told apart.
  bool canWeigh(const LossTerm &term);
  void weigh(const LossTerm &term);

private:
  Value weight();
  Value rowsThatCount(NeighbourBuilder &b);
  /// For each place of a value, whether the row counts that it belongs to.
  Value placesThatCount(NeighbourBuilder &b, Value places);
  /// Makes the labels of rows that do not count ignored ones.
  template <typename OpTy> void weighLabels(OpTy op);
  void weighPlaces(ReduceSumOp sum);
  void weighCount(const LossTerm &term);
  bool canCount(Value count);

  func::FuncOp graph;
  int64_t rows;
  RowStrides strides;
  Value argument;
  llvm::DenseSet<Operation *> weighed;
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

Value RowWeights::rowsThatCount(NeighbourBuilder &b) {
  Value weights = weight();
  Value zero = b.fill(cast<RankedTensorType>(weights.getType()), 0.0);
  return b.create<CompareOp>(ComparePredicate::GT, weights, zero);
}

Value RowWeights::placesThatCount(NeighbourBuilder &b, Value places) {
  Type element = b.builder.getI1Type();
  Value counts = rowsThatCount(b);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(places.getType()).getShape();
  int64_t stride = *strides.strideOf(places);
  int64_t groups = ShapedType::getNumElements(shape) / (rows * stride);
  SmallVector<int64_t> box = {groups, rows, stride};
  int64_t dim = 1;
  if (groups == 1) {
    box.erase(box.begin());
    dim = 0;
  }
  auto type = RankedTensorType::get(shape, element);
  if (counts.getType() != type)
    counts =
        b.create<ExpandOp>(RankedTensorType::get(box, element), counts,
                           b.builder.getDenseI64ArrayAttr({dim}), ValueRange());
  if (counts.getType() != type)
    counts = b.create<ReshapeOp>(type, counts, ValueRange());
  return counts;
}

template <typename OpTy> void RowWeights::weighLabels(OpTy op) {
  if (!weighed.insert(op).second)
    return;
  NeighbourBuilder b(op);
  auto labels = cast<RankedTensorType>(op.getLabels().getType());
  Value counts = placesThatCount(b, op.getLabels());
  Value ignored = b.fill(labels, static_cast<int64_t>(op.getIgnoreIndex()));
  op.getLabelsMutable().assign(
      b.create<SelectOp>(labels, counts, op.getLabels(), ignored));
}

void RowWeights::weighPlaces(ReduceSumOp sum) {
  if (!weighed.insert(sum).second)
    return;
  NeighbourBuilder b(sum);
  auto type = cast<RankedTensorType>(sum.getOperand().getType());
  Value counts = placesThatCount(b, sum.getOperand());
  sum.getOperandMutable().assign(
      b.create<MulOp>(sum.getOperand(), b.create<CastOp>(type, counts)));
}

void RowWeights::weighCount(const LossTerm &term) {
  if (auto labels = term.count.getDefiningOp<LabelCountOp>())
    return weighLabels(labels);
  std::optional<double> number = uniformValue(term.count);
  if (!number)
    return weighPlaces(term.count.getDefiningOp<ReduceSumOp>());
  // Of each row as many as of any other.
  NeighbourBuilder b(term.sum.getDefiningOp());
  auto integer = [&](ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, b.builder.getI64Type());
  };
  Value ones = b.create<CastOp>(integer(rows), rowsThatCount(b));
  Value total = b.create<ReduceSumOp>(ones, ArrayRef<int64_t>{0});
  Value each = b.fill(integer({}), *number / double(rows));
  auto mean = term.value.getDefiningOp<MeanLossOp>();
  mean.getCountMutable().assign(b.create<MulOp>(total, each));
}

/// A number of labels, one that grows with the rows, or a sum over them.
bool RowWeights::canCount(Value count) {
  if (auto labels = count.getDefiningOp<LabelCountOp>())
    return strides.strideOf(labels.getLabels()).has_value();
  if (std::optional<double> number = uniformValue(count))
    return std::fmod(*number, double(rows)) == 0;
  auto sum = count.getDefiningOp<ReduceSumOp>();
  return sum && cast<RankedTensorType>(sum.getType()).getRank() == 0 &&
         strides.strideOf(sum.getOperand());
}

bool RowWeights::canWeigh(const LossTerm &term) {
  if (term.isShare)
    return true;
  if (auto loss = term.sum.getDefiningOp<CrossEntropyOp>())
    return strides.strideOf(loss.getLabels()) &&
           strides.strideOf(loss.getLogits());
  auto sum = term.sum.getDefiningOp<ReduceSumOp>();
  return sum && cast<RankedTensorType>(sum.getType()).getRank() == 0 &&
         strides.strideOf(sum.getOperand()) &&
         (!term.count || canCount(term.count));
}

void RowWeights::weigh(const LossTerm &term) {
  if (auto sum = term.sum.getDefiningOp<ReduceSumOp>()) {
    weighPlaces(sum);
    if (term.count)
      weighCount(term);
  }
  if (auto loss = term.sum.getDefiningOp<CrossEntropyOp>())
    weighLabels(loss);
}

bool smp::weighRows(func::FuncOp graph, int64_t rows) {
  for (unsigned i = 0; i < graph.getNumArguments(); ++i)
    if (auto role = graph.getArgAttrOfType<StringAttr>(i, kRoleAttr);
        role && role == kRowWeight)
      return true;
  auto terms = findLossTerms(graph);
  if (failed(terms))
    return false;
  RowWeights weights(graph, rows);
  if (!llvm::all_of(*terms, [&](auto &term) { return weights.canWeigh(term); }))
    return false;
  for (const LossTerm &term : *terms)
    if (!term.isShare)
      weights.weigh(term);
  return true;
}
