//===- Register.h - Code models of all ops ----------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_CODEGEN_REGISTER_H
#define SMP_CODEGEN_REGISTER_H

namespace mlir {
class DialectRegistry;
}

namespace smp::codegen {

/// Attaches the code of all ops, and what turning kernels into objects needs.
void registerCodegen(mlir::DialectRegistry &registry);

} // namespace smp::codegen

#endif // SMP_CODEGEN_REGISTER_H
