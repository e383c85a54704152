//===- OneThread.h - The library on the calling thread alone ----*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_LIB_DEVICE_ONETHREAD_H
#define SMP_RUNTIME_LIB_DEVICE_ONETHREAD_H

namespace smp::runtime {

/// Keeps oneDNN from splitting calls of this thread over threads of its own;
/// call it before each use of the library.
void useOneThread();

} // namespace smp::runtime

#endif // SMP_RUNTIME_LIB_DEVICE_ONETHREAD_H
