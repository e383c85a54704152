//===- MappedPath.h - Whose memory cannot be read ---------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_SUPPORT_MAPPEDPATH_H
#define SMP_SUPPORT_MAPPEDPATH_H

namespace smp {

/// The path of the `MappedFile` that an address lies in, null if in none that
/// is known. Safe in a signal handler: SIGBUS says no more than an address.
const char *findMappedPath(const void *address);

} // namespace smp

#endif // SMP_SUPPORT_MAPPEDPATH_H
