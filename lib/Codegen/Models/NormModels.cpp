//===- NormModels.cpp - Code of norms and softmax --------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile is some rows. Gradients of weights and biases, which are sums over
// rows, are ops of their own by now (`decompose`).
//
//===----------------------------------------------------------------------===//

#include "Models.h"
#include "Register.h"

using namespace mlir;
using namespace smp;
using namespace smp::codegen;

namespace smp::codegen {

Index placeInRow(KernelEmitter &e, Value row, const Rows &rows,
                 const Coordinate &place) {
  return Index::makeFlat(e.add(e.mul(e.uniform(row), rows.width), place));
}
Index rowIndex(KernelEmitter &e, Value row) {
  return Index::makeFlat(e.uniform(row));
}

namespace {

/// A model whose tiles are rows of operand 0: `emitRow(e, row)`.
template <typename Model, typename OpT>
struct RowModel : KernelOpInterface::ExternalModel<Model, OpT> {
  int64_t getTiles(Operation *op) const {
    return Rows(op->getOperand(0)).tiles();
  }
  void emitTiles(Operation *op, KernelEmitter &e, Value begin,
                 Value end) const {
    Rows rows(op->getOperand(0));
    e.forRows(begin, end, rows.perTile(), rows.count,
              [&](Value row) { Model::emitRow(cast<OpT>(op), e, rows, row); });
  }
};

/// An element of a vector along the last dim; `otherwise` without a vector.
Value columnElement(KernelEmitter &e, Value vector, const Coordinate &place,
                    Value otherwise) {
  return vector ? e.at(vector, Index::makeFlat(place)) : otherwise;
}

Value reciprocalRoot(KernelEmitter &e, Value squares, const Rows &rows,
                     const APFloat &epsilon) {
  Value mean = divF(e, squares, number(e, rows.width, squares));
  Value shifted = addF(e, mean, number(e, epsilon.convertToDouble(), squares));
  return divF(e, number(e, 1, squares), sqrt(e, shifted));
}

struct LayerNormModel : RowModel<LayerNormModel, LayerNormOp> {
  static void emitRow(LayerNormOp op, KernelEmitter &e, const Rows &rows,
                      Value row) {
    auto x = [&](const Coordinate &place) {
      return e.at(op.getOperand(), placeInRow(e, row, rows, place));
    };
    Value sum =
        e.reduceLanes(rows.width, Reduction::Sum,
                      [&](const Coordinate &place) { return x(place); });
    Value mean = divF(e, sum, number(e, rows.width, sum));
    Value squares =
        e.reduceLanes(rows.width, Reduction::Sum, [&](const Coordinate &place) {
          Value centered = subF(e, x(place), mean);
          return mulF(e, centered, centered);
        });
    Value rstd = reciprocalRoot(e, squares, rows, op.getEpsilon());
    e.store(op.getMean(), rowIndex(e, row), mean);
    e.store(op.getRstd(), rowIndex(e, row), rstd);
    e.forLanes(rows.width, [&](const Coordinate &place) {
      Value y = mulF(e, subF(e, x(place), mean), rstd);
      if (op.getWeight())
        y = mulF(e, y, columnElement(e, op.getWeight(), place, {}));
      if (op.getBias())
        y = addF(e, y, columnElement(e, op.getBias(), place, {}));
      e.store(op.getResult(), placeInRow(e, row, rows, place), y);
    });
  }
};

// With x^ = (x - mean) rstd and g = cotangent weight:
// dx = rstd (g - mean(g) - x^ mean(g x^)).
struct LayerNormGradModel : RowModel<LayerNormGradModel, LayerNormGradOp> {
  static void emitRow(LayerNormGradOp op, KernelEmitter &e, const Rows &rows,
                      Value row) {
    Value mean = e.at(op.getMean(), rowIndex(e, row));
    Value rstd = e.at(op.getRstd(), rowIndex(e, row));
    auto parts = [&](const Coordinate &place) -> std::pair<Value, Value> {
      Index index = placeInRow(e, row, rows, place);
      Value g = e.at(op.getCotangent(), index);
      if (op.getWeight())
        g = mulF(e, g, columnElement(e, op.getWeight(), place, {}));
      Value x = e.at(op.getOperand(), index);
      return {g, mulF(e, subF(e, x, mean), rstd)};
    };
    auto sums =
        e.reduceLanes(rows.width, {Reduction::Sum, Reduction::Sum},
                      [&](const Coordinate &place) {
                        auto [g, normal] = parts(place);
                        return SmallVector<Value>{g, mulF(e, g, normal)};
                      });
    Value width = number(e, rows.width, mean);
    Value meanG = divF(e, sums[0], width),
          meanProduct = divF(e, sums[1], width);
    e.forLanes(rows.width, [&](const Coordinate &place) {
      auto [g, normal] = parts(place);
      Value inner = subF(e, subF(e, g, meanG), mulF(e, normal, meanProduct));
      e.store(op.getOperandGrad(), placeInRow(e, row, rows, place),
              mulF(e, rstd, inner));
    });
  }
  int64_t getInPlaceOperand(Operation *, unsigned result) const {
    return result == 0 ? 0 : -1;
  }
};

struct RmsNormModel : RowModel<RmsNormModel, RmsNormOp> {
  static void emitRow(RmsNormOp op, KernelEmitter &e, const Rows &rows,
                      Value row) {
    auto x = [&](const Coordinate &place) {
      return e.at(op.getOperand(), placeInRow(e, row, rows, place));
    };
    Value squares =
        e.reduceLanes(rows.width, Reduction::Sum, [&](const Coordinate &place) {
          Value value = x(place);
          return mulF(e, value, value);
        });
    Value rstd = reciprocalRoot(e, squares, rows, op.getEpsilon());
    e.store(op.getRstd(), rowIndex(e, row), rstd);
    e.forLanes(rows.width, [&](const Coordinate &place) {
      Value y = mulF(e, x(place), rstd);
      if (op.getWeight())
        y = mulF(e, y, columnElement(e, op.getWeight(), place, {}));
      e.store(op.getResult(), placeInRow(e, row, rows, place), y);
    });
  }
};

// With g = cotangent weight: dx = rstd (g - x rstd^2 mean(g x)).
struct RmsNormGradModel : RowModel<RmsNormGradModel, RmsNormGradOp> {
  static void emitRow(RmsNormGradOp op, KernelEmitter &e, const Rows &rows,
                      Value row) {
    Value rstd = e.at(op.getRstd(), rowIndex(e, row));
    auto parts = [&](const Coordinate &place) -> std::pair<Value, Value> {
      Index index = placeInRow(e, row, rows, place);
      Value g = e.at(op.getCotangent(), index);
      if (op.getWeight())
        g = mulF(e, g, columnElement(e, op.getWeight(), place, {}));
      return {g, mulF(e, e.at(op.getOperand(), index), rstd)};
    };
    Value product =
        e.reduceLanes(rows.width, Reduction::Sum, [&](const Coordinate &place) {
          auto [g, normal] = parts(place);
          return mulF(e, g, normal);
        });
    Value mean = divF(e, product, number(e, rows.width, product));
    e.forLanes(rows.width, [&](const Coordinate &place) {
      auto [g, normal] = parts(place);
      Value inner = subF(e, g, mulF(e, normal, mean));
      e.store(op.getOperandGrad(), placeInRow(e, row, rows, place),
              mulF(e, rstd, inner));
    });
  }
  int64_t getInPlaceOperand(Operation *, unsigned result) const {
    return result == 0 ? 0 : -1;
  }
};

struct SoftmaxModel : RowModel<SoftmaxModel, SoftmaxOp> {
  static void emitRow(SoftmaxOp op, KernelEmitter &e, const Rows &rows,
                      Value row) {
    auto x = [&](const Coordinate &place) {
      return e.at(op.getOperand(), placeInRow(e, row, rows, place));
    };
    Value largest =
        e.reduceLanes(rows.width, Reduction::Max,
                      [&](const Coordinate &place) { return x(place); });
    Value sum =
        e.reduceLanes(rows.width, Reduction::Sum, [&](const Coordinate &place) {
          Value power = exp(e, subF(e, x(place), largest));
          e.store(op.getResult(), placeInRow(e, row, rows, place), power);
          return power;
        });
    e.forLanes(rows.width, [&](const Coordinate &place) {
      Index index = placeInRow(e, row, rows, place);
      e.store(op.getResult(), index,
              divF(e, e.reload(op.getResult(), index), sum));
    });
  }
  int64_t getInPlaceOperand(Operation *, unsigned) const { return 0; }
};

struct SoftmaxGradModel : RowModel<SoftmaxGradModel, SoftmaxGradOp> {
  static void emitRow(SoftmaxGradOp op, KernelEmitter &e, const Rows &rows,
                      Value row) {
    auto parts = [&](const Coordinate &place) -> std::pair<Value, Value> {
      Index index = placeInRow(e, row, rows, place);
      return {e.at(op.getCotangent(), index), e.at(op.getOutput(), index)};
    };
    Value product =
        e.reduceLanes(rows.width, Reduction::Sum, [&](const Coordinate &place) {
          auto [c, y] = parts(place);
          return mulF(e, c, y);
        });
    e.forLanes(rows.width, [&](const Coordinate &place) {
      auto [c, y] = parts(place);
      e.store(op.getResult(), placeInRow(e, row, rows, place),
              mulF(e, y, subF(e, c, product)));
    });
  }
  int64_t getInPlaceOperand(Operation *, unsigned) const { return 0; }
};

} // namespace

void attachNormModels(MLIRContext *context) {
  LayerNormOp::attachInterface<LayerNormModel>(*context);
  LayerNormGradOp::attachInterface<LayerNormGradModel>(*context);
  RmsNormOp::attachInterface<RmsNormModel>(*context);
  RmsNormGradOp::attachInterface<RmsNormGradModel>(*context);
  SoftmaxOp::attachInterface<SoftmaxModel>(*context);
  SoftmaxGradOp::attachInterface<SoftmaxGradModel>(*context);
}

} // namespace smp::codegen
