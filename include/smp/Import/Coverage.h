//===- Coverage.h - What of an archive can be imported ----------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IMPORT_COVERAGE_H
#define SMP_IMPORT_COVERAGE_H

#include "smp/Import/Pt2Archive.h"
#include "llvm/Support/raw_ostream.h"

namespace smp {

/// One operator of an archive's graphs.
struct OperatorCoverage {
  int64_t nodes = 0;
  /// Of them those that have no rule, or were refused when the graph was read.
  int64_t missing = 0;
  /// Why, and where the first of them stands; empty when none is missing.
  std::string reason;
};

/// By ATen name, over the training and the evaluation graph. Nodes that check
/// shapes or compute sizes are left out: they need no rule. The arguments of a
/// node are looked at only when it is imported.
std::map<std::string, OperatorCoverage>
coverageOf(const pt2::Pt2Archive &archive);

/// A line for each operator, and one with the sums.
void printCoverage(const std::map<std::string, OperatorCoverage> &coverage,
                   llvm::raw_ostream &os);

} // namespace smp

#endif // SMP_IMPORT_COVERAGE_H
