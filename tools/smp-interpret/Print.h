//===- Print.h - Tensors as text --------------------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_TOOLS_SMP_INTERPRET_PRINT_H
#define SMP_TOOLS_SMP_INTERPRET_PRINT_H

#include "smp/Interpret/Tensor.h"
#include "llvm/Support/raw_ostream.h"

namespace smp::interpret {

/// One line a tensor: name, shape, type and at most the first 64 elements.
void printTensors(const TensorMap &tensors, llvm::raw_ostream &out);

} // namespace smp::interpret

#endif // SMP_TOOLS_SMP_INTERPRET_PRINT_H
