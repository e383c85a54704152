//===- KernelLoops.cpp - Loops and reductions of kernels -------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Codegen/KernelEmitter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace smp;
using namespace smp::codegen;

void KernelEmitter::withCache(llvm::function_ref<void()> emit) {
  caches.emplace_back();
  emit();
  caches.pop_back();
}

void KernelEmitter::masked(Value mask, llvm::function_ref<void()> emit) {
  assert(!activeMask && "lanes are masked once");
  activeMask = mask;
  withCache(emit);
  activeMask = nullptr;
}

void KernelEmitter::forRange(Value low, Value high, int64_t step, Body body) {
  auto loop = scf::ForOp::create(b, low, high, i64(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  withCache([&] { body(loop.getInductionVar()); });
}

SmallVector<Value> KernelEmitter::forCarried(
    Value low, Value high, int64_t step, ValueRange initial,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(b, low, high, i64(step), initial);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  withCache([&] {
    scf::YieldOp::create(
        b, body(loop.getInductionVar(), loop.getRegionIterArgs()));
  });
  return SmallVector<Value>(loop.getResults());
}

void KernelEmitter::forRows(Value begin, Value end, int64_t rowsPerTile,
                            int64_t rows, Body body) {
  Value low = arith::MulIOp::create(b, begin, i64(rowsPerTile));
  Value high = arith::MulIOp::create(b, end, i64(rowsPerTile));
  high = arith::MinSIOp::create(b, high, i64(rows));
  forRange(low, high, 1, body);
}

/// Lanes below `count`, a constant.
static Value prefixMask(ImplicitLocOpBuilder &b, int64_t count) {
  SmallVector<bool> active;
  for (int64_t lane = 0; lane < KernelEmitter::lanes; ++lane)
    active.push_back(lane < count);
  auto type = VectorType::get({KernelEmitter::lanes}, b.getI1Type());
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, ArrayRef<bool>(active)));
}

void KernelEmitter::forLanes(int64_t extent, LaneBody body) {
  int64_t whole = extent / lanes * lanes;
  if (whole == lanes)
    withCache([&] { body(Coordinate{i64(0), 1, nullptr, lanes}); });
  else if (whole)
    forRange(i64(0), i64(whole), lanes,
             [&](Value place) { body(Coordinate{place, 1, nullptr, lanes}); });
  if (extent > whole)
    masked(prefixMask(b, extent - whole),
           [&] { body(Coordinate{i64(whole), 1, nullptr, lanes}); });
}

std::pair<Value, Value> KernelEmitter::splitRange(Value low, Value high) {
  Value span = arith::SubIOp::create(b, high, low);
  Value rest = arith::AndIOp::create(b, span, i64(lanes - 1));
  return {arith::SubIOp::create(b, high, rest), rest};
}

Value KernelEmitter::lanesBelow(Value count) {
  return compare(arith::CmpIPredicate::slt,
                 Coordinate{i64(0), 1, nullptr, lanes}, uniform(count));
}

void KernelEmitter::forLanes(Value low, Value high, LaneBody body,
                             int64_t alignment) {
  auto [whole, rest] = splitRange(low, high);
  forRange(low, whole, lanes, [&](Value place) {
    body(Coordinate{place, 1, nullptr, alignment});
  });
  Value any = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, rest, i64(0));
  auto branch = scf::IfOp::create(b, any, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  masked(lanesBelow(rest),
         [&] { body(Coordinate{whole, 1, nullptr, alignment}); });
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Value KernelEmitter::combine(Value a, Value c, Reduction kind) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(a.getType()));
  if (kind == Reduction::Sum)
    return isFloat ? arith::AddFOp::create(b, a, c).getResult()
                   : arith::AddIOp::create(b, a, c).getResult();
  return isFloat ? arith::MaximumFOp::create(b, a, c).getResult()
                 : arith::MaxSIOp::create(b, a, c).getResult();
}

Value KernelEmitter::identity(Reduction kind, Type elementType) {
  if (kind == Reduction::Sum)
    return splat(0.0, elementType);
  if (isa<FloatType>(elementType))
    return splat(-std::numeric_limits<double>::infinity(), elementType);
  unsigned bits = elementType.getIntOrFloatBitWidth();
  return splat(arith::ConstantIntOp::create(
      b, elementType, APInt::getSignedMinValue(bits).getSExtValue()));
}

SmallVector<Value> KernelEmitter::reducePartial(int64_t extent,
                                                ArrayRef<Reduction> kinds,
                                                LaneValues body) {
  // The element types show only once the first places are computed, which is
  // also what starts the partial results.
  auto step = [&](const Coordinate &place) { return body(place); };
  auto accumulate = [&](ValueRange carried, ArrayRef<Value> values) {
    SmallVector<Value> next;
    for (auto [old, value, kind] : llvm::zip(carried, values, kinds))
      next.push_back(combine(old, value, kind));
    return next;
  };
  int64_t whole = extent / lanes * lanes;
  SmallVector<Value> partial;
  if (whole) {
    partial = step(Coordinate{i64(0), 1, nullptr, lanes});
    if (whole > lanes)
      partial =
          forCarried(i64(lanes), i64(whole), lanes, partial,
                     [&](Value place, ValueRange carried) {
                       return accumulate(
                           carried, step(Coordinate{place, 1, nullptr, lanes}));
                     });
  }
  if (extent == whole)
    return partial;
  Value mask = prefixMask(b, extent - whole);
  masked(mask, [&] {
    SmallVector<Value> values = step(Coordinate{i64(whole), 1, nullptr, lanes});
    for (auto [value, kind] : llvm::zip(values, kinds))
      value = select(
          mask, value,
          identity(kind, cast<VectorType>(value.getType()).getElementType()));
    partial = partial.empty() ? values : accumulate(partial, values);
  });
  return partial;
}

Value KernelEmitter::combineLanes(Value partial, Reduction kind) {
  for (int64_t distance = lanes / 2; distance > 0; distance /= 2) {
    SmallVector<int64_t> partner;
    for (int64_t lane = 0; lane < lanes; ++lane)
      partner.push_back(lane ^ distance);
    Value other = vector::ShuffleOp::create(b, partial, partial, partner);
    partial = combine(partial, other, kind);
  }
  return partial;
}

SmallVector<Value> KernelEmitter::reduceLanes(int64_t extent,
                                              ArrayRef<Reduction> kinds,
                                              LaneValues body) {
  SmallVector<Value> results = reducePartial(extent, kinds, body);
  for (auto [result, kind] : llvm::zip(results, kinds))
    result = combineLanes(result, kind);
  return results;
}

Value KernelEmitter::reduceLanes(int64_t extent, Reduction kind,
                                 LaneValue body) {
  return reduceLanes(extent, ArrayRef(kind), [&](const Coordinate &place) {
    return SmallVector<Value>{body(place)};
  })[0];
}

Value KernelEmitter::reduceLanes(Value low, Value high, Reduction kind,
                                 LaneValue body, Type elementType) {
  auto [whole, rest] = splitRange(low, high);
  Value partial =
      forCarried(low, whole, lanes, identity(kind, elementType),
                 [&](Value place, ValueRange carried) {
                   Value value = body(Coordinate{place, 1, nullptr, lanes});
                   return SmallVector<Value>{combine(carried[0], value, kind)};
                 })[0];
  Value any = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, rest, i64(0));
  auto branch = scf::IfOp::create(b, partial.getType(), any,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value mask = lanesBelow(rest);
  masked(mask, [&] {
    Value value = body(Coordinate{whole, 1, nullptr, lanes});
    value = select(mask, value, identity(kind, elementType));
    scf::YieldOp::create(b, combine(partial, value, kind));
  });
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, partial);
  b.setInsertionPointAfter(branch);
  return combineLanes(branch.getResult(0), kind);
}
