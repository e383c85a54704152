//===- DescribeArchive.h - The description of a plain archive ---*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What smp.export writes beside a graph, told from the graph and the weights
// where torch.export.save wrote them alone. Where that is not enough the user
// says it.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IMPORT_DESCRIBEARCHIVE_H
#define SMP_IMPORT_DESCRIBEARCHIVE_H

#include "smp/Import/Pt2Archive.h"

namespace smp::pt2 {

/// What the user says about an archive of torch.export.save.
struct ArchiveHints {
  /// Inputs that are labels; empty for those called label, labels, target or
  /// targets.
  std::vector<std::string> labels = {};
  /// The output that is the loss; empty for the one called loss, or the only
  /// scalar of floating type.
  std::string loss = {};
  /// "hf", "next-token" or "none"; empty to be derived from the graph.
  std::string convention = {};

  bool empty() const {
    return labels.empty() && loss.empty() && convention.empty();
  }
};

/// The archive's own description, or one of the same content. Errors name the
/// option of smp-import and smp-compile that helps.
Result<Description> describeArchive(const Pt2Archive &archive,
                                    const ArchiveHints &hints);

/// Groups of names of one parameter, the canonical one first: as described, or
/// names of one storage.
std::vector<std::vector<std::string>> aliasGroups(const Pt2Archive &archive);

} // namespace smp::pt2

#endif // SMP_IMPORT_DESCRIBEARCHIVE_H
