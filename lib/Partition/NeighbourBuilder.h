//===- NeighbourBuilder.h - Ops beside others of a partitioned graph ------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_PARTITION_NEIGHBOURBUILDER_H
#define SMP_LIB_PARTITION_NEIGHBOURBUILDER_H

#include "smp/IR/SmpDialect.h"

namespace smp {

/// Builds ops in the chunk and scope of another op, before it.
class NeighbourBuilder {
public:
  explicit NeighbourBuilder(mlir::Operation *neighbour)
      : builder(neighbour), neighbour(neighbour) {}

  template <typename OpTy, typename... Args>
  mlir::Value create(Args &&...args) {
    OpTy op =
        OpTy::create(builder, neighbour->getLoc(), std::forward<Args>(args)...);
    adopt(op);
    return op->getResult(0);
  }
  /// Gives an op the chunk, and the scope if it has one, of the neighbour.
  void adopt(mlir::Operation *op) {
    copyScope(neighbour, op);
    op->setAttr(kChunkAttr, neighbour->getAttr(kChunkAttr));
  }
  mlir::Value fill(mlir::RankedTensorType type, double value) {
    return create<FillOp>(type, llvm::APFloat(value), mlir::ValueRange());
  }

  mlir::OpBuilder builder;

private:
  mlir::Operation *neighbour;
};

} // namespace smp

#endif // SMP_LIB_PARTITION_NEIGHBOURBUILDER_H
