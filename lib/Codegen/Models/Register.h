//===- Register.h - The families of code models -----------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_CODEGEN_MODELS_REGISTER_H
#define SMP_LIB_CODEGEN_MODELS_REGISTER_H

namespace mlir {
class MLIRContext;
}

namespace smp::codegen {

void attachElementwiseModels(mlir::MLIRContext *context);
void attachShapeModels(mlir::MLIRContext *context);
void attachIndexModels(mlir::MLIRContext *context);
void attachRandomModels(mlir::MLIRContext *context);
void attachOptimizerModels(mlir::MLIRContext *context);
void attachReductionModels(mlir::MLIRContext *context);
void attachNormModels(mlir::MLIRContext *context);
void attachPoolingModels(mlir::MLIRContext *context);
void attachLossModels(mlir::MLIRContext *context);
void attachAttentionModels(mlir::MLIRContext *context);

} // namespace smp::codegen

#endif // SMP_LIB_CODEGEN_MODELS_REGISTER_H
