//===- KernelLibrary.cpp - The distinct kernels of a job -------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Codegen/KernelLibrary.h"
#include "smp/Codegen/KernelEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace smp;
using namespace smp::codegen;

/// Elements of a tile of a flat range, and about as many of other tiles.
static constexpr int64_t tileElements = 16384;

static YieldOp yieldOf(ClusterOp cluster) {
  return cast<YieldOp>(cluster.getBody().front().getTerminator());
}

static KernelOpInterface kernelOpOf(ClusterOp cluster) {
  for (Operation &op : cluster.getBody().front())
    if (auto kernel = dyn_cast<KernelOpInterface>(op))
      return kernel;
  return {};
}

static bool allPointwise(ClusterOp cluster,
                         llvm::function_ref<bool(PointwiseOpInterface)> holds) {
  return llvm::all_of(cluster.getBody().front().without_terminator(),
                      [&](Operation &op) {
                        auto pointwise = dyn_cast<PointwiseOpInterface>(op);
                        return pointwise && holds(pointwise);
                      });
}

static int64_t elementsOf(ClusterOp cluster) {
  return cast<RankedTensorType>(cluster.getResult(0).getType())
      .getNumElements();
}

bool smp::codegen::isFlat(ClusterOp cluster) {
  return allPointwise(
      cluster, [](PointwiseOpInterface op) { return !op.needsCoordinates(); });
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

static void printType(raw_ostream &os, Type type, int64_t range) {
  auto tensor = cast<RankedTensorType>(type);
  if (range < 0)
    os << tensor;
  else if (tensor.getNumElements() == range)
    os << "n" << tensor.getElementType();
  else
    os << tensor.getNumElements() << tensor.getElementType();
}

std::string smp::codegen::structureOf(ClusterOp cluster) {
  std::string text;
  llvm::raw_string_ostream os(text);
  bool anyLength = isFlat(cluster) &&
                   allPointwise(cluster,
                                [](PointwiseOpInterface op) {
                                  return !op.dependsOnShape();
                                }) &&
                   elementsOf(cluster) != 1;
  int64_t range = anyLength ? elementsOf(cluster) : -1;
  DenseMap<Value, unsigned> numbers;
  auto define = [&](ValueRange values) {
    for (Value value : values) {
      numbers.try_emplace(value, numbers.size());
      os << ' ';
      printType(os, value.getType(), range);
    }
  };
  define(cluster.getBody().front().getArguments());
  for (int64_t operand : cluster.getInPlace())
    os << ' ' << operand;
  for (Operation &op : cluster.getBody().front()) {
    os << '\n' << op.getName();
    for (Value operand : op.getOperands())
      os << ' ' << numbers.lookup(operand);
    for (NamedAttribute attribute : op.getAttrDictionary())
      if (attribute.getName() != "scope" && attribute.getName() != "site")
        os << ' ' << attribute.getName() << attribute.getValue();
    define(op.getResults());
  }
  return text;
}

/// The immediates of a use; `visit` learns which belong to which op.
static std::vector<int64_t>
immediatesOf(ClusterOp cluster,
             llvm::function_ref<void(Operation *, int64_t)> visit) {
  SmallVector<int64_t> values;
  if (isFlat(cluster))
    values.push_back(elementsOf(cluster));
  for (Operation &op : cluster.getBody().front()) {
    visit(&op, values.size());
    if (auto pointwise = dyn_cast<PointwiseOpInterface>(op))
      pointwise.getImmediates(values);
    else if (auto kernel = dyn_cast<KernelOpInterface>(op))
      kernel.getImmediates(values);
  }
  return {values.begin(), values.end()};
}

//===----------------------------------------------------------------------===//
// Clusters of elementwise ops
//===----------------------------------------------------------------------===//

static void emitPlace(ClusterOp cluster, KernelEmitter &e, const Index &index) {
  // Everything is read before anything is written: results may take the memory
  // of operands.
  SmallVector<Value> values;
  for (Value yielded : yieldOf(cluster).getOperands())
    values.push_back(e.at(yielded, index));
  for (auto [yielded, value] :
       llvm::zip(yieldOf(cluster).getOperands(), values))
    e.store(yielded, index, value);
}

static void emitFlat(ClusterOp cluster, KernelEmitter &e, Value begin,
                     Value end) {
  Value low = arith::MulIOp::create(e.b, begin, e.i64(tileElements));
  Value high = arith::MulIOp::create(e.b, end, e.i64(tileElements));
  high = arith::MinSIOp::create(e.b, high, e.immediate(0));
  e.forLanes(low, high, [&](const Coordinate &position) {
    emitPlace(cluster, e, Index::makeFlat(position));
  });
}

namespace {
/// Rows of the last dim.
struct RowTiles {
  explicit RowTiles(ClusterOp cluster)
      : shape(
            cast<RankedTensorType>(cluster.getResult(0).getType()).getShape()) {
    width = shape.empty() ? 1 : shape.back();
    rows = width ? elementsOf(cluster) / width : 0;
    perTile = std::max<int64_t>(1, tileElements / std::max<int64_t>(1, width));
  }
  int64_t tiles() const { return (rows + perTile - 1) / perTile; }

  ArrayRef<int64_t> shape;
  int64_t width, rows, perTile;
};
} // namespace

static void emitRows(ClusterOp cluster, KernelEmitter &e, Value begin,
                     Value end) {
  RowTiles tiles(cluster);
  ArrayRef<int64_t> outer =
      tiles.shape.empty() ? tiles.shape : tiles.shape.drop_back();
  e.forRows(begin, end, tiles.perTile, tiles.rows, [&](Value row) {
    auto places = e.delinearize(e.uniform(row), outer);
    e.forLanes(tiles.width, [&](const Coordinate &column) {
      SmallVector<Coordinate> all(places.begin(), places.end());
      if (!tiles.shape.empty())
        all.push_back(column);
      emitPlace(cluster, e, e.fromDims(all));
    });
  });
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// The body as a function of pointers that do not overlap; the kernel takes
/// them from the array of buffers.
static LLVM::LLVMFuncOp makeFunction(ImplicitLocOpBuilder &b, StringRef name,
                                     size_t buffers) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  SmallVector<Type> inputs(buffers + 2, pointer);
  inputs.append(2, b.getI64Type());
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()), inputs);
  auto function = LLVM::LLVMFuncOp::create(b, name, type);
  function.setLinkage(LLVM::Linkage::Internal);
  for (size_t buffer = 0; buffer < buffers + 2; ++buffer)
    function.setArgAttr(buffer, LLVM::LLVMDialect::getNoAliasAttrName(),
                        b.getUnitAttr());
  function.setPassthroughAttr(b.getStrArrayAttr({"alwaysinline"}));
  b.setInsertionPointToStart(function.addEntryBlock(b));
  return function;
}

static void makeEntry(ImplicitLocOpBuilder &b, StringRef name,
                      LLVM::LLVMFuncOp body, size_t buffers) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()),
      {pointer, pointer, pointer, b.getI64Type(), b.getI64Type()});
  auto function = LLVM::LLVMFuncOp::create(b, name, type);
  b.setInsertionPointToStart(function.addEntryBlock(b));
  SmallVector<Value> arguments;
  for (size_t buffer = 0; buffer < buffers; ++buffer) {
    Value slot = LLVM::GEPOp::create(
        b, pointer, pointer, function.getArgument(0),
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(buffer)});
    arguments.push_back(LLVM::LoadOp::create(b, pointer, slot, 8));
  }
  llvm::append_range(arguments, function.getArguments().drop_front());
  LLVM::CallOp::create(b, body, arguments);
  LLVM::ReturnOp::create(b, ValueRange{});
}

static void emitBody(ClusterOp cluster, ImplicitLocOpBuilder &b,
                     LLVM::LLVMFuncOp function) {
  Block &block = cluster.getBody().front();
  auto arguments = function.getArguments();
  auto special = arguments.take_back(4);
  KernelEmitter e(b, special[0], special[1]);
  for (auto [argument, pointer] : llvm::zip(block.getArguments(), arguments))
    e.bindPointer(argument, pointer);
  size_t next = block.getNumArguments();
  for (auto [yielded, operand] :
       llvm::zip(yieldOf(cluster).getOperands(), cluster.getInPlace()))
    e.bindPointer(yielded, arguments[operand < 0 ? next++ : operand]);
  immediatesOf(cluster, [&](Operation *op, int64_t first) {
    e.bindImmediates(op, first);
  });
  if (auto kernel = kernelOpOf(cluster))
    kernel.emitTiles(e, special[2], special[3]);
  else if (isFlat(cluster))
    emitFlat(cluster, e, special[2], special[3]);
  else
    emitRows(cluster, e, special[2], special[3]);
  LLVM::ReturnOp::create(b, ValueRange{});
}

/// The op whose result leaves the cluster last, and a number.
static std::string nameOf(ClusterOp cluster, size_t number) {
  Operation *op = yieldOf(cluster).getOperands().back().getDefiningOp();
  return op->getName().stripDialect().str() + "_" + std::to_string(number);
}

KernelLibrary::KernelLibrary(MLIRContext *context)
    : kernels(ModuleOp::create(UnknownLoc::get(context))) {}

KernelUse KernelLibrary::add(ClusterOp cluster) {
  KernelUse use;
  use.immediates = immediatesOf(cluster, [](Operation *, int64_t) {});
  if (auto kernel = kernelOpOf(cluster))
    use.tiles = kernel.getTiles();
  else if (isFlat(cluster))
    use.tiles = (elementsOf(cluster) + tileElements - 1) / tileElements;
  else
    use.tiles = RowTiles(cluster).tiles();

  auto [entry, isNew] =
      byStructure.try_emplace(structureOf(cluster), names.size());
  use.kernel = entry->second;
  if (!isNew)
    return use;
  names.push_back(nameOf(cluster, names.size()));
  ImplicitLocOpBuilder b(UnknownLoc::get(cluster.getContext()),
                         cluster.getContext());
  size_t buffers =
      cluster.getNumOperands() + llvm::count(cluster.getInPlace(), int64_t{-1});
  b.setInsertionPointToEnd(kernels->getBody());
  LLVM::LLVMFuncOp body = makeFunction(b, names.back() + ".body", buffers);
  emitBody(cluster, b, body);
  b.setInsertionPointToEnd(kernels->getBody());
  makeEntry(b, names.back(), body, buffers);
  return use;
}
