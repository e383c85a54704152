//===- Limits.h - What integers of the data may be --------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_EMIT_LIMITS_H
#define SMP_LIB_EMIT_LIMITS_H

#include "mlir/IR/BuiltinOps.h"

namespace smp::emit {

/// Notes what the runtime may check of data, on the arguments of programs that
/// are integer inputs (`kBelowAttr`, `kIgnoredAttr`) and on the module
/// (`kVocabularyAttr`).
void recordLimits(mlir::ModuleOp module);

} // namespace smp::emit

#endif // SMP_LIB_EMIT_LIMITS_H
