//===- TemporaryPath.h - Files that go with the test ------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_TEST_FIXTURES_TEMPORARYPATH_H
#define SMP_RUNTIME_TEST_FIXTURES_TEMPORARYPATH_H

#include <string>

namespace smp::runtime::test {

/// A path inside a folder of this process, below the system's folder for
/// temporary files. What an earlier call of the same name left there is gone.
/// The folder goes when the process ends, whether its tests pass or fail;
/// SMP_TEST_KEEP=1 keeps it, to look into.
std::string temporaryPath(const std::string &name);

} // namespace smp::runtime::test

#endif // SMP_RUNTIME_TEST_FIXTURES_TEMPORARYPATH_H
