//===- TestContext.h - A context with what the tests need -------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_TEST_UNIT_INTERPRET_TESTCONTEXT_H
#define SMP_TEST_UNIT_INTERPRET_TESTCONTEXT_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "smp/Interpret/Interpretable.h"

namespace smp::interpret {

/// One context for all tests of the program.
inline mlir::MLIRContext *testContext() {
  static auto *context = [] {
    mlir::DialectRegistry registry;
    registry.insert<SmpDialect, mlir::arith::ArithDialect,
                    mlir::func::FuncDialect>();
    registerInterpreter(registry);
    auto *created = new mlir::MLIRContext(registry);
    created->loadAllAvailableDialects();
    return created;
  }();
  return context;
}

} // namespace smp::interpret

#endif // SMP_TEST_UNIT_INTERPRET_TESTCONTEXT_H
