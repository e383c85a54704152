//===- RandomModels.cpp - Philox in generated code -------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The function of smp/Support/Philox.h. A block gives the words of four
// neighbouring elements; where the lanes are neighbours, four blocks are
// computed for sixteen lanes.
//
//===----------------------------------------------------------------------===//

#include "Models.h"
#include "Register.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace smp;
using namespace smp::codegen;

namespace smp::codegen {

static Value splitMix(KernelEmitter &e, Value value) {
  auto constant = [&](uint64_t bits) {
    return e.i64(static_cast<int64_t>(bits));
  };
  auto mix = [&](int64_t shift, uint64_t factor) {
    Value high = arith::ShRUIOp::create(e.b, value, e.i64(shift));
    value = arith::XOrIOp::create(e.b, value, high);
    if (factor)
      value = arith::MulIOp::create(e.b, value, constant(factor));
  };
  value = arith::AddIOp::create(e.b, value, constant(0x9E3779B97F4A7C15ull));
  mix(30, 0xBF58476D1CE4E5B9ull);
  mix(27, 0x94D049BB133111EBull);
  mix(31, 0);
  return value;
}

namespace {

/// Philox4x32-7 on vectors of any width.
class Philox {
public:
  Philox(KernelEmitter &e, int64_t width)
      : e(e), words(VectorType::get({width}, e.b.getI32Type())),
        wide(VectorType::get({width}, e.b.getI64Type())) {}

  using Words = std::array<Value, 4>;

  /// `block` and `sample` are vectors of i64; `key` is i64.
  Words operator()(Value block, Value sample, Value key) {
    Value all = vector::BroadcastOp::create(e.b, wide, key);
    Words counter = {low(block), high(block), low(sample), high(sample)};
    Value key0 = low(all), key1 = high(all);
    for (int round = 0; round < 7; ++round) {
      Value product0 = multiply(counter[0], 0xD2511F53u);
      Value product1 = multiply(counter[2], 0xCD9E8D57u);
      counter = {combine(product1, counter[1], key0), low(product1),
                 combine(product0, counter[3], key1), low(product0)};
      key0 = arith::AddIOp::create(e.b, key0, constant(0x9E3779B9u));
      key1 = arith::AddIOp::create(e.b, key1, constant(0xBB67AE85u));
    }
    return counter;
  }

private:
  Value constant(uint32_t bits) {
    return arith::ConstantOp::create(
        e.b, DenseElementsAttr::get(words, APInt(32, bits)));
  }
  Value low(Value value) { return arith::TruncIOp::create(e.b, words, value); }
  Value high(Value value) {
    Value shift = arith::ConstantOp::create(
        e.b, DenseElementsAttr::get(wide, APInt(64, 32)));
    return low(arith::ShRUIOp::create(e.b, value, shift));
  }
  Value multiply(Value word, uint32_t factor) {
    Value a = arith::ExtUIOp::create(e.b, wide, word);
    Value c = arith::ExtUIOp::create(e.b, wide, constant(factor));
    return arith::MulIOp::create(e.b, a, c);
  }
  Value combine(Value product, Value word, Value key) {
    Value mixed = arith::XOrIOp::create(e.b, high(product), word);
    return arith::XOrIOp::create(e.b, mixed, key);
  }

  KernelEmitter &e;
  VectorType words, wide;
};

} // namespace

/// Word l % 4 of block l / 4 for each lane l.
static Value interleave(KernelEmitter &e, const Philox::Words &words) {
  SmallVector<int64_t> both = {0, 1, 2, 3, 4, 5, 6, 7};
  Value lower = vector::ShuffleOp::create(e.b, words[0], words[1], both);
  Value upper = vector::ShuffleOp::create(e.b, words[2], words[3], both);
  SmallVector<int64_t> order;
  for (int64_t lane = 0; lane < KernelEmitter::lanes; ++lane)
    order.push_back(lane % 4 * 4 + lane / 4);
  return vector::ShuffleOp::create(e.b, lower, upper, order);
}

static Value randomWords(KernelEmitter &e, Value key, const Coordinate &sample,
                         const Coordinate &element) {
  Type i64 = e.b.getI64Type();
  if (sample.isUniform() && element.isContiguous() &&
      element.alignment % 4 == 0) {
    auto four = VectorType::get({4}, i64);
    SmallVector<int64_t> steps = {0, 1, 2, 3};
    Value block = arith::ShRUIOp::create(e.b, element.base, e.i64(2));
    Value blocks = arith::AddIOp::create(
        e.b, vector::BroadcastOp::create(e.b, four, block),
        arith::ConstantOp::create(
            e.b, DenseElementsAttr::get(four, ArrayRef<int64_t>(steps))));
    Value samples = vector::BroadcastOp::create(e.b, four, sample.base);
    return interleave(e, Philox(e, 4)(blocks, samples, key));
  }
  Value place = e.lanesOf(element);
  Value block = arith::ShRUIOp::create(e.b, place, e.splat(2.0, i64));
  Value which = arith::AndIOp::create(e.b, place, e.splat(3.0, i64));
  auto words = Philox(e, KernelEmitter::lanes)(block, e.lanesOf(sample), key);
  Value result = words[0];
  for (int word = 1; word < 4; ++word)
    result = e.select(arith::CmpIOp::create(e.b, arith::CmpIPredicate::eq,
                                            which, e.splat(word, i64)),
                      words[word], result);
  return result;
}

Value uniformNumbers(KernelEmitter &e, Value site, const Coordinate &sample,
                     const Coordinate &element) {
  Value seed = e.stepField(StepField::Seed, e.b.getI64Type());
  Value key = splitMix(e, arith::XOrIOp::create(e.b, seed, splitMix(e, site)));
  Value words = randomWords(e, key, sample, element);
  Value upper =
      arith::ShRUIOp::create(e.b, words, e.splat(8.0, e.b.getI32Type()));
  // 24 bits are exact as a signed number.
  Value numbers = e.convert(upper, e.b.getF32Type());
  return mulF(e, numbers, e.splat(0x1p-24, e.b.getF32Type()));
}

Value dropoutFactor(KernelEmitter &e, Value site, int64_t elementsPerSample,
                    const Coordinate &position, double probability) {
  Type f32 = e.b.getF32Type();
  auto [row, element] = e.divmod(position, elementsPerSample);
  Value offset = e.stepField(StepField::SampleOffset, e.b.getI64Type());
  Coordinate sample = e.add(row, e.uniform(offset));
  Value numbers = uniformNumbers(e, site, sample, element);
  Value dropped = arith::CmpFOp::create(e.b, arith::CmpFPredicate::OLT, numbers,
                                        e.splat(probability, f32));
  return e.select(dropped, e.splat(0.0, f32),
                  e.splat(1 / (1 - probability), f32));
}

namespace {

struct DropoutModel
    : PointwiseOpInterface::ExternalModel<DropoutModel, DropoutOp> {
  void emitElements(Operation *op, KernelEmitter &e, const Index &index,
                    SmallVectorImpl<Value> &results) const {
    auto dropout = cast<DropoutOp>(op);
    Value element = e.at(dropout.getOperand(), index);
    auto type = tensorType(dropout.getResult());
    int64_t rowsPerSample = dropout.getRowsPerSample();
    int64_t perSample =
        type.getNumElements() / type.getDimSize(0) * rowsPerSample;
    Value factor = dropoutFactor(e, e.immediate(op, 0), perSample,
                                 e.linearize(index, dropout.getResult()),
                                 dropout.getProbability().convertToDouble());
    results.push_back(
        mulF(e, element, e.convert(factor, type.getElementType())));
  }
  bool needsCoordinates(Operation *) const { return false; }
  bool dependsOnShape(Operation *) const { return true; }
  void getImmediates(Operation *op, SmallVectorImpl<int64_t> &values) const {
    values.push_back(cast<DropoutOp>(op).getSite());
  }
};

} // namespace

void attachRandomModels(MLIRContext *context) {
  DropoutOp::attachInterface<DropoutModel>(*context);
}

} // namespace smp::codegen
