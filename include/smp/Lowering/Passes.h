//===- Passes.h - Passes of lowering ----------------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LOWERING_PASSES_H
#define SMP_LOWERING_PASSES_H

#include "smp/IR/SmpDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace smp {

#define GEN_PASS_DECL
#include "smp/Lowering/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "smp/Lowering/Passes.h.inc"

} // namespace smp

#endif // SMP_LOWERING_PASSES_H
