//===- RandomBlocks.h - The pieces of random models -------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_INTERPRET_RANDOMBLOCKS_H
#define SMP_LIB_INTERPRET_RANDOMBLOCKS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "smp/IR/SmpDialect.h"
#include <random>

namespace smp::interpret {

struct RandomShape {
  int64_t rows, length, width, heads, vocabulary;
};

/// Builds a function of blocks, each of which takes one of the values of shape
/// [rows, length, width] made so far and adds another.
class RandomBlocks {
public:
  RandomBlocks(mlir::ModuleOp module, mlir::func::FuncOp function,
               const RandomShape &shape, uint64_t seed, bool dropout);

  void start(mlir::Value tokens, mlir::Value features);
  void addBlock();
  void finish(mlir::Value labels);

private:
  using Value = mlir::Value;

  int64_t pick(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % (high - low + 1));
  }
  /// A value made so far, a late one more often.
  Value pickValue();
  mlir::RankedTensorType floats(mlir::ArrayRef<int64_t> shape);
  template <typename OpTy, typename... Args> OpTy create(Args &&...args) {
    OpTy op =
        OpTy::create(builder, function.getLoc(), std::forward<Args>(args)...);
    if (auto model = llvm::dyn_cast<ModelOpInterface>(op.getOperation()))
      model.setScope(scope);
    return op;
  }

  /// Reads a parameter, which the first use creates; `tied` parameters are read
  /// under an alias of the scope.
  Value parameter(llvm::StringRef name, mlir::ArrayRef<int64_t> shape);
  Value tied(llvm::StringRef name, llvm::StringRef alias);
  Value fill(Value like, double value);
  Value expandVector(Value vector, Value like);
  Value linear(Value x, llvm::StringRef name, int64_t width);
  Value heads(Value x);
  MaskAttr mask();
  Value merge(Value x);
  Value maybeDropout(Value x);

  Value activation(Value x);
  Value mlp(Value x);
  Value norm(Value x);
  Value attention(Value x);
  Value combination(Value x);
  Value movement(Value x);
  Value reduction(Value x);
  Value frozenPath(Value x);

  mlir::ModuleOp module;
  mlir::func::FuncOp function;
  RandomShape shape;
  std::mt19937_64 random;
  bool dropout;
  mlir::OpBuilder builder;
  std::string scope;
  int block = 0;
  int64_t site = 0;
  llvm::SmallVector<Value> values;
};

} // namespace smp::interpret

#endif // SMP_LIB_INTERPRET_RANDOMBLOCKS_H
