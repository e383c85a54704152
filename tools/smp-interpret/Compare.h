//===- Compare.h - Results against expected tensors -------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_TOOLS_SMP_INTERPRET_COMPARE_H
#define SMP_TOOLS_SMP_INTERPRET_COMPARE_H

#include "smp/Interpret/Tensor.h"
#include "llvm/Support/raw_ostream.h"

namespace smp::interpret {

/// Prints the largest difference, and each expected tensor that is missing or
/// differs by more than `tolerance`, relative to its largest element. For
/// gradients ('grad/...') that element counts at least a thousandth of the
/// median over the gradients: some are zero but for rounding.
bool compareTensors(const TensorMap &results, const TensorMap &expected,
                    double tolerance, llvm::raw_ostream &out);

} // namespace smp::interpret

#endif // SMP_TOOLS_SMP_INTERPRET_COMPARE_H
