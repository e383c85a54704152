//===- Constants.h - constants.bin ------------------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_EMIT_CONSTANTS_H
#define SMP_LIB_EMIT_CONSTANTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/MapVector.h"

#include <string>

namespace smp::emit {

/// The elements as they lie in memory; truth values take a byte.
std::string elementBytes(mlir::ElementsAttr elements);

/// A piece of constants.bin: the constants arena of a rank, or a state.
class ConstantPool {
public:
  /// The offset of the elements; equal elements are there once.
  int64_t add(mlir::ElementsAttr elements);
  const std::string &bytes() const { return content; }

private:
  llvm::DenseMap<mlir::Attribute, int64_t> offsets;
  std::string content;
};

} // namespace smp::emit

#endif // SMP_LIB_EMIT_CONSTANTS_H
