//===- Coverage.cpp - What of an archive can be imported ------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Import/Coverage.h"
#include "GraphImporter.h"
#include "ImportTable.h"
#include "llvm/Support/Format.h"

using namespace smp;

static std::string reasonOf(const pt2::Node &node) {
  return (node.refusal.empty() ? "no rule" : node.refusal) + ", first " +
         placeOf(node);
}

std::map<std::string, OperatorCoverage>
smp::coverageOf(const pt2::Pt2Archive &archive) {
  std::map<std::string, OperatorCoverage> coverage;
  for (const pt2::ExportedGraph *graph : {&archive.train(), archive.eval()}) {
    if (!graph)
      continue;
    for (const pt2::Node &node : graph->nodes) {
      if (isIgnored(node))
        continue;
      OperatorCoverage &entry = coverage[node.target];
      ++entry.nodes;
      if (node.refusal.empty() && findRule(node.target))
        continue;
      if (entry.missing++ == 0)
        entry.reason = reasonOf(node);
    }
  }
  return coverage;
}

void smp::printCoverage(const std::map<std::string, OperatorCoverage> &coverage,
                        llvm::raw_ostream &os) {
  size_t width = llvm::StringRef("operator").size();
  for (const auto &[name, entry] : coverage)
    width = std::max(width, name.size());
  os << llvm::left_justify("operator", width) << "   nodes  missing\n";
  int64_t nodes = 0, missing = 0, operators = 0;
  for (const auto &[name, entry] : coverage) {
    os << llvm::left_justify(name, width)
       << llvm::format("%8lld%9lld", static_cast<long long>(entry.nodes),
                       static_cast<long long>(entry.missing));
    if (!entry.reason.empty())
      os << "  " << entry.reason;
    os << "\n";
    nodes += entry.nodes;
    missing += entry.missing;
    operators += entry.missing == 0;
  }
  os << operators << " of " << coverage.size() << " operators and "
     << nodes - missing << " of " << nodes << " nodes are covered\n";
}
