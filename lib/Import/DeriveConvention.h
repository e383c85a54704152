//===- DeriveConvention.h - How labels lie against tokens -------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some models shift their labels against the tokens, others expect them
// shifted. What `@train` does with them is found by giving it numbered labels
// and looking at what arrives at the cross-entropy:
//
//   | a row of labels | arrives as       | convention   |
//   |-----------------|------------------|--------------|
//   | 0 1 2 3         | 1 2 3 (anything) | "hf"         |
//   | 0 1 2 3         | 0 1 2 3          | "next-token" |
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_IMPORT_DERIVECONVENTION_H
#define SMP_LIB_IMPORT_DERIVECONVENTION_H

#include "mlir/IR/BuiltinOps.h"
#include "smp/IR/SmpDialect.h"

namespace smp {

/// Empty for a model without a loss, or whose inputs are not one sequence of
/// tokens and one of as many labels. Fails with a diagnostic where labels do
/// not reach a cross-entropy in a way that can be followed.
llvm::FailureOr<std::string> deriveConvention(mlir::ModuleOp module);

} // namespace smp

#endif // SMP_LIB_IMPORT_DERIVECONVENTION_H
