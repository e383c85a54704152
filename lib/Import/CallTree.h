//===- CallTree.h - Names of a call's arguments -----------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PyTorch stores how arguments and results were nested as text that holds JSON:
//
//   | text                                                  | paths |
//   |-------------------------------------------------------|------------------|
//   | inputs: tuple(tuple(), dict[ids, labels](*, *))       | ids, labels | |
//   outputs: dict[loss, logits](*, *)                     | loss, logits     |
//   | outputs: tuple(*, *)                                  | output_0,
//   output_1 | | outputs: *                                            | output
//   |
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_IMPORT_CALLTREE_H
#define SMP_LIB_IMPORT_CALLTREE_H

#include <string>
#include <string_view>
#include <vector>

namespace smp::pt2 {

enum class CallSide { Inputs, Outputs };

/// One path for each leaf; empty for an argument given by position. No paths
/// when the text is not as expected: they are names, which can be told
/// otherwise.
std::vector<std::string> callPaths(std::string_view text, CallSide side);

} // namespace smp::pt2

#endif // SMP_LIB_IMPORT_CALLTREE_H
