//===- GradientCase.h - An op with random shapes ----------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_TEST_UNIT_INTERPRET_GRADIENTCASE_H
#define SMP_TEST_UNIT_INTERPRET_GRADIENTCASE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "smp/IR/SmpDialect.h"
#include "smp/Interpret/RandomGraph.h"

namespace smp::interpret {

/// A function around one op, drawn anew for each seed: its arguments are the
/// op's operands with values, those in `targets` are differentiated.
class GradientCase {
public:
  GradientCase(mlir::MLIRContext *context, uint64_t seed);

  int64_t pick(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % (high - low + 1));
  }
  Shape shape(int64_t minRank, int64_t maxRank);

  /// A differentiated argument; no element is within 0.05 of zero, where some
  /// ops have a kink.
  mlir::Value number(Shape shape, double low = -1, double high = 1);
  /// An argument that is not differentiated.
  mlir::Value fixed(Tensor value);
  mlir::Value indices(Shape shape, int64_t below);
  mlir::Value flags(Shape shape);
  mlir::RankedTensorType floats(const Shape &shape);

  template <typename OpTy, typename... Args> OpTy create(Args &&...args) {
    return OpTy::create(builder, function.getLoc(),
                        std::forward<Args>(args)...);
  }
  /// Ends the function; all floating results of the op are returned.
  void finish(mlir::Operation *op);

  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  std::mt19937_64 random;
  std::vector<Tensor> arguments;
  std::vector<unsigned> targets;
};

/// How to build the op of each differentiable op's name.
struct NamedCase {
  const char *op;
  void (*build)(GradientCase &);
};
llvm::ArrayRef<NamedCase> elementwiseCases();
llvm::ArrayRef<NamedCase> shapeCases();
llvm::ArrayRef<NamedCase> compositeCases();
llvm::ArrayRef<NamedCase> convolutionCases();

} // namespace smp::interpret

#endif // SMP_TEST_UNIT_INTERPRET_GRADIENTCASE_H
