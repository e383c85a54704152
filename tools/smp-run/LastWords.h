//===- LastWords.h - When the system refuses ---------------------*- C++
//-*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_TOOLS_SMP_RUN_LASTWORDS_H
#define SMP_TOOLS_SMP_RUN_LASTWORDS_H

namespace smp::run {

/// What ends a process anywhere, without a result that could be returned (no
/// memory, no thread, a file cut short while it is mapped) is said in one
/// error and ends with exit code 1. Also sees that the standard streams are
/// open, so that no message lands in a file that took the number of one.
void installLastWords();

} // namespace smp::run

#endif // SMP_TOOLS_SMP_RUN_LASTWORDS_H
