//===- TensorBuilder.h - Builds ops on tensors of symbolic size -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the import table writes its ops with. A tensor knows its sizes as
// expressions, so that equal sizes are recognised although both are `?` in the
// type; where an op needs a size as an operand, `SizeValues` computes it from
// the dims of the function's arguments.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_IMPORT_TENSORBUILDER_H
#define SMP_LIB_IMPORT_TENSORBUILDER_H

#include "smp/IR/SmpDialect.h"
#include "smp/Import/SizeExpr.h"
#include "smp/Support/DataType.h"

namespace smp {

using Shape = std::vector<pt2::SizeExpr>;

/// A value and its sizes; null for an argument that was left out.
struct Tensor {
  mlir::Value value;
  Shape shape;

  explicit operator bool() const { return bool(value); }
  int64_t rank() const { return shape.size(); }
  mlir::RankedTensorType type() const {
    return mlir::cast<mlir::RankedTensorType>(value.getType());
  }
  mlir::Type element() const { return type().getElementType(); }
};

mlir::Type elementType(mlir::MLIRContext *context, DataType type);
mlir::RankedTensorType tensorType(mlir::Type element, const Shape &shape);
/// "[s72, 16]".
std::string shapeText(const Shape &shape);
/// The product of all sizes, if it is a size.
std::optional<pt2::SizeExpr> elementsOf(const Shape &shape);

/// Sizes as values, each computed once at the top of a function.
class SizeValues {
public:
  SizeValues() = default;
  explicit SizeValues(mlir::Block *body)
      : body(body), builder(body->getParentOp()->getContext()) {}

  /// Says that `symbol` is the size of a dim of an argument.
  void define(const std::string &symbol, mlir::Value argument, int64_t dim) {
    symbols.try_emplace(symbol, argument, dim);
  }
  /// Null when a symbol is no dim of an argument.
  mlir::Value get(const pt2::SizeExpr &size);

private:
  mlir::Value symbol(const std::string &name);
  mlir::Value constant(int64_t value);

  mlir::Block *body = nullptr;
  mlir::Operation *last = nullptr; ///< that computes a size
  mlir::OpBuilder builder{static_cast<mlir::MLIRContext *>(nullptr)};
  std::map<std::string, std::pair<mlir::Value, int64_t>> symbols;
  std::map<std::string, mlir::Value> cache;
};

class TensorBuilder {
public:
  TensorBuilder(mlir::OpBuilder &builder, mlir::Location loc, SizeValues &sizes)
      : builder(builder), loc(loc), sizes(sizes) {}

  // Constants.
  Tensor fill(double value, mlir::Type element, const Shape &shape);
  Tensor iota(int64_t dim, mlir::Type element, const Shape &shape);

  // Moves of elements.
  Tensor cast(Tensor operand, mlir::Type element);
  Tensor reshape(Tensor operand, const Shape &shape);
  /// Operand dim `i` becomes result dim `dims[i]`.
  Tensor expand(Tensor operand, const Shape &shape,
                llvm::ArrayRef<int64_t> dims);
  /// Aligned at the last dim, as NumPy does.
  Tensor broadcast(Tensor operand, const Shape &shape);
  Tensor transpose(Tensor operand, llvm::ArrayRef<int64_t> permutation);
  Tensor swapDims(const Tensor &operand, int64_t a, int64_t b);
  Tensor moveDim(const Tensor &operand, int64_t from, int64_t to);
  Tensor slice(Tensor operand, int64_t dim, int64_t start, int64_t stop,
               int64_t step = 1);
  Tensor pad(Tensor operand, int64_t dim, int64_t low, int64_t high,
             double value);
  Tensor concat(llvm::ArrayRef<Tensor> operands, int64_t dim);

  // Arithmetic; operands of equal shapes.
  template <typename Op> Tensor unary(const Tensor &operand) {
    return {Op::create(builder, loc, operand.type(), operand.value),
            operand.shape};
  }
  template <typename Op> Tensor binary(const Tensor &lhs, const Tensor &rhs) {
    return {Op::create(builder, loc, lhs.type(), lhs.value, rhs.value),
            lhs.shape};
  }
  Tensor compare(ComparePredicate predicate, const Tensor &lhs,
                 const Tensor &rhs);
  Tensor select(const Tensor &condition, const Tensor &onTrue,
                const Tensor &onFalse);
  /// The reduced dims go, or stay with size 1 if `keep`.
  template <typename Op>
  Tensor reduce(const Tensor &operand, llvm::ArrayRef<int64_t> dims,
                bool keep) {
    auto [without, with] = reducedShapes(operand.shape, dims);
    Tensor result = {Op::create(builder, loc,
                                tensorType(operand.element(), without),
                                operand.value, dims),
                     without};
    return keep ? reshape(result, with) : result;
  }

  /// The number of elements, as an i64 scalar.
  Tensor elementCount(const Shape &shape);

  /// Sizes of the dynamic dims, for ops that take them.
  llvm::SmallVector<mlir::Value> sizesOf(const Shape &shape);
  /// What could not be built, or empty.
  const std::string &problem() const { return failure; }

  mlir::OpBuilder &builder;
  mlir::Location loc;

protected:
  std::string failure;

private:
  static std::pair<Shape, Shape> reducedShapes(const Shape &shape,
                                               llvm::ArrayRef<int64_t> dims);
  SizeValues &sizes;
};

} // namespace smp

#endif // SMP_LIB_IMPORT_TENSORBUILDER_H
