//===- CommandModels.cpp - How ops become commands -------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "smp/Codegen/KernelEmitter.h"
#include "smp/Codegen/Register.h"
#include "smp/Emit/EmitJob.h"

using namespace mlir;
using namespace smp;
using namespace smp::emit;
using codegen::KernelOpInterface;
using codegen::PointwiseOpInterface;
using nlohmann::json;

#include "smp/Emit/EmitInterfaces.cpp.inc"

//===----------------------------------------------------------------------===//
// Memory only
//===----------------------------------------------------------------------===//

namespace {

struct ReshapeModel
    : CommandOpInterface::ExternalModel<ReshapeModel, ReshapeOp> {
  bool isView(Operation *) const { return true; }
};

struct ConstantModel
    : CommandOpInterface::ExternalModel<ConstantModel, ConstantOp> {};

} // namespace

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Tiles of a product: enough of them for several threads, each large enough
/// for the library. Fixed here, so that results do not depend on threads.
static json tileOf(int64_t m, int64_t n, int64_t batch) {
  auto pieces = [](int64_t extent, int64_t size) {
    return (extent + size - 1) / size;
  };
  int64_t tileM = std::min<int64_t>(m, 256), tileN = std::min<int64_t>(n, 512);
  while (batch * pieces(m, tileM) * pieces(n, tileN) < 8 &&
         tileM * tileN > 64 * 64) {
    int64_t &larger = tileN >= tileM ? tileN : tileM;
    larger = (larger / 2 + 15) / 16 * 16;
  }
  return {tileM, tileN};
}

namespace {

struct ProductModel
    : CommandOpInterface::ExternalModel<ProductModel, ProductOp> {
  int64_t getTiedOperand(Operation *op, unsigned) const {
    return cast<ProductOp>(op).getAccumulator() ? 2 : -1;
  }

  void appendCommands(Operation *operation, CommandList &list) const {
    auto op = cast<ProductOp>(operation);
    Place a = list.placeOf(op.getLhs()), b = list.placeOf(op.getRhs());
    Place c = list.placeOf(op.getResult());
    bool ta = op.getTransposeLhs(), tb = op.getTransposeRhs();
    int64_t m = op.getM(), n = op.getN(), k = op.getK(), batch = op.getBatch();
    json fields = {{"kind", "product"},
                   {"m", m},
                   {"n", n},
                   {"k", k},
                   {"ta", ta},
                   {"tb", tb},
                   {"lda", ta ? m : k},
                   {"ldb", tb ? k : n},
                   {"ldc", n},
                   {"beta", op.getAccumulator() ? 1 : 0},
                   {"a", a.operand()},
                   {"b", b.operand()},
                   {"c", c.operand()},
                   {"tile", tileOf(m, n, batch)}};
    if (batch > 1) {
      fields.update({{"batch", batch},
                     {"sa", m * k},
                     {"sb", k * n},
                     {"sc", m * n},
                     {"divb", static_cast<int64_t>(op.getDivBatch())},
                     {"sumbatch", static_cast<int64_t>(op.getSumBatch())}});
    }
    std::vector<Place> reads = {a, b};
    if (op.getAccumulator())
      reads.push_back(c);
    list.append(op, std::move(fields), std::move(reads), {c}, op.getScope());
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

namespace {

struct ConvolutionModel
    : CommandOpInterface::ExternalModel<ConvolutionModel, ConvolutionOp> {
  void appendCommands(Operation *operation, CommandList &list) const {
    auto op = cast<ConvolutionOp>(operation);
    bool weights = op.getPass() == ConvolutionPass::BackwardWeights;
    bool forward = op.getPass() == ConvolutionPass::Forward;
    auto sizes = [](Value value, size_t count) {
      ArrayRef<int64_t> shape =
          cast<RankedTensorType>(value.getType()).getShape();
      return shape.take_back(count).vec();
    };
    Value input = weights   ? op.getRhs()
                  : forward ? op.getLhs()
                            : op.getResult();
    Place a = list.placeOf(op.getLhs()), b = list.placeOf(op.getRhs());
    Place c = list.placeOf(op.getResult());
    Place scratch = list.placeOf(op.getWorkspace());
    json fields = {
        {"kind", "convolution"},
        {"pass", stringifyConvolutionPass(op.getPass()).str()},
        {"rows", cast<RankedTensorType>(input.getType()).getDimSize(0)},
        {"groups", static_cast<int64_t>(op.getGroups())},
        {"input", sizes(input, 3)},
        {"output", sizes(forward ? op.getResult() : op.getLhs(), 3)},
        {"kernel", sizes(weights ? op.getResult() : op.getRhs(), 2)},
        {"stride", op.getStride().vec()},
        {"padding", op.getPadding().vec()},
        {"dilation", op.getDilation().vec()},
        {"tiles", static_cast<int64_t>(op.getTiles())},
        {"a", a.operand()},
        {"b", b.operand()},
        {"c", c.operand()},
        {"scratch", scratch.operand()}};
    list.append(op, std::move(fields), {a, b}, {c, scratch}, op.getScope());
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

namespace {

template <typename OpT>
struct CollectiveModel
    : CommandOpInterface::ExternalModel<CollectiveModel<OpT>, OpT> {
  int64_t getTiedOperand(Operation *, unsigned) const { return 0; }

  void appendCommands(Operation *operation, CommandList &list) const {
    auto op = cast<OpT>(operation);
    auto type = cast<RankedTensorType>(op.getType());
    unsigned group = list.groups.indexOf(op.getGroup());
    const Place &place = list.placeOf(op.getResult());
    json fields = {{"kind", "collective"},
                   {"queue", "group:" + std::to_string(group)},
                   {"group", group},
                   {"dtype", dataTypeName(type.getElementType())},
                   {"count", type.getNumElements()},
                   {"buffer", place.operand()}};
    describe(op, fields);
    list.append(op, std::move(fields), {place}, {place});
  }

private:
  static void describe(AllReduceOp, json &fields) {
    fields["op"] = "all_reduce";
  }
  static void describe(BroadcastOp op, json &fields) {
    fields["op"] = "broadcast";
    fields["root"] = static_cast<int64_t>(op.getRoot());
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

static Value stripViews(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getOperand();
  return value;
}

static YieldOp yieldOf(ClusterOp cluster) {
  return cast<YieldOp>(cluster.getBody().front().getTerminator());
}

/// Whether some op of the body reads what depends on `argument` somewhere else
/// than at the place it computes.
static bool readElsewhere(ClusterOp cluster, BlockArgument argument) {
  llvm::SmallPtrSet<Value, 8> dependent = {argument};
  for (Operation &op : cluster.getBody().front().without_terminator()) {
    for (OpOperand &operand : op.getOpOperands()) {
      if (!dependent.count(operand.get()))
        continue;
      auto pointwise = dyn_cast<PointwiseOpInterface>(op);
      if (!pointwise || !pointwise.readsSamePlace(operand.getOperandNumber()))
        return true;
      dependent.insert(op.result_begin(), op.result_end());
    }
  }
  return false;
}

/// A fill with zeros, which is a command of its own.
static bool isZeroFill(ClusterOp cluster) {
  Operation *op = yieldOf(cluster).getOperand(0).getDefiningOp();
  auto fill = dyn_cast_or_null<FillOp>(op);
  return cluster.getNumResults() == 1 && fill && fill.getValue().isPosZero();
}

namespace {

struct ClusterModel
    : CommandOpInterface::ExternalModel<ClusterModel, ClusterOp> {
  bool mayTakeMemory(Operation *operation, unsigned result,
                     unsigned operand) const {
    auto cluster = cast<ClusterOp>(operation);
    Value taken = cluster.getOperand(operand);
    if (taken.getType() != cluster.getResult(result).getType())
      return false;
    for (auto [i, other] : llvm::enumerate(cluster.getOperands()))
      if (i != operand && stripViews(other) == stripViews(taken))
        return false;
    BlockArgument argument = cluster.getBody().getArgument(operand);
    Value yielded = yieldOf(cluster).getOperand(result);
    for (Operation &op : cluster.getBody().front())
      if (auto kernel = dyn_cast<KernelOpInterface>(op))
        return takesKernelOperand(kernel, yielded, argument);
    return !readElsewhere(cluster, argument);
  }

  void appendCommands(Operation *operation, CommandList &list) const {
    auto cluster = cast<ClusterOp>(operation);
    if (isZeroFill(cluster)) {
      list.appendFill(cluster, list.placeOf(cluster.getResult(0)));
      return;
    }
    std::vector<Place> reads, writes, buffers;
    for (Value operand : cluster.getOperands())
      reads.push_back(list.placeOf(operand));
    buffers = reads;
    SmallVector<int64_t> inPlace;
    for (Value result : cluster.getResults()) {
      const Place &place = list.placeOf(result);
      writes.push_back(place);
      auto same = llvm::find(reads, place);
      inPlace.push_back(same == reads.end() ? -1 : same - reads.begin());
      if (same == reads.end())
        buffers.push_back(place);
    }
    cluster.setInPlace(inPlace);
    codegen::KernelUse use = list.kernels.add(cluster);
    json operands = json::array();
    for (const Place &place : buffers)
      operands.push_back(place.operand());
    list.append(cluster,
                {{"kind", "kernel"},
                 {"kernel", use.kernel},
                 {"buffers", std::move(operands)},
                 {"immediates", use.immediates},
                 {"tiles", use.tiles}},
                std::move(reads), std::move(writes), scopeOf(cluster));
  }

private:
  /// Only the kernel's own operand, read by nothing else.
  static bool takesKernelOperand(KernelOpInterface kernel, Value yielded,
                                 BlockArgument argument) {
    if (yielded.getDefiningOp() != kernel.getOperation() ||
        !argument.hasOneUse())
      return false;
    OpOperand &use = *argument.use_begin();
    unsigned number = cast<OpResult>(yielded).getResultNumber();
    return use.getOwner() == kernel.getOperation() &&
           kernel.getInPlaceOperand(number) ==
               static_cast<int64_t>(use.getOperandNumber());
  }

  static StringRef scopeOf(ClusterOp cluster) {
    for (Operation &op : llvm::reverse(cluster.getBody().front()))
      if (auto model = dyn_cast<ModelOpInterface>(op);
          model && !model.getScope().empty())
        return model.getScope();
    return "";
  }
};

} // namespace

void smp::registerEmit(DialectRegistry &registry) {
  codegen::registerCodegen(registry);
  registry.addExtension(+[](MLIRContext *context, SmpDialect *) {
    ReshapeOp::attachInterface<ReshapeModel>(*context);
    ConstantOp::attachInterface<ConstantModel>(*context);
    ProductOp::attachInterface<ProductModel>(*context);
    ConvolutionOp::attachInterface<ConvolutionModel>(*context);
    AllReduceOp::attachInterface<CollectiveModel<AllReduceOp>>(*context);
    BroadcastOp::attachInterface<CollectiveModel<BroadcastOp>>(*context);
    ClusterOp::attachInterface<ClusterModel>(*context);
  });
}
