//===- ArchiveOptions.h - Options about plain archives ----------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What smp-import and smp-compile take about archives of torch.export.save,
// which do not say it themselves.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_TOOLS_ARCHIVEOPTIONS_H
#define SMP_TOOLS_ARCHIVEOPTIONS_H

#include "smp/Import/DescribeArchive.h"
#include "llvm/Support/CommandLine.h"

namespace smp {

struct ArchiveOptions {
  explicit ArchiveOptions(llvm::cl::OptionCategory &category)
      : labels("labels", llvm::cl::cat(category), llvm::cl::CommaSeparated,
               llvm::cl::value_desc("name,..."),
               llvm::cl::desc(
                   "Inputs of a torch.export.save archive that are labels "
                   "(default: those called label, labels, target, targets)")),
        loss("loss-output", llvm::cl::cat(category),
             llvm::cl::value_desc("name"),
             llvm::cl::desc("Output of a torch.export.save archive that is the "
                            "loss (default: the one "
                            "called loss, or the only scalar)")),
        convention(
            "data-convention", llvm::cl::cat(category),
            llvm::cl::value_desc("hf|next-token|none"),
            llvm::cl::desc(
                "How labels of a torch.export.save archive lie against tokens "
                "(default: derived from the graph; example "
                "--data-convention=hf, when the model shifts them)")) {}

  pt2::ArchiveHints hints() const {
    return {std::vector<std::string>(labels.begin(), labels.end()), loss,
            convention};
  }

  llvm::cl::list<std::string> labels;
  llvm::cl::opt<std::string> loss, convention;
};

} // namespace smp

#endif // SMP_TOOLS_ARCHIVEOPTIONS_H
