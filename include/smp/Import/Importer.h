//===- Importer.h - From an archive to the smp dialect ----------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The importer maps operator to op, by the table of lib/Import/ImportTable.h,
// and nothing else: composites that PyTorch took to pieces are put together by
// the pass `smp-recover-composites`, masks are understood by `smp-specialize`.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IMPORT_IMPORTER_H
#define SMP_IMPORT_IMPORTER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "smp/Import/DescribeArchive.h"

namespace smp {

/// The module with `@train` and, if the archive has it, `@eval`; parameters
/// and states as symbols. `hints` say what an archive of torch.export.save
/// leaves open. Null after diagnostics.
mlir::OwningOpRef<mlir::ModuleOp>
importArchive(mlir::MLIRContext *context, const pt2::Pt2Archive &archive,
              const pt2::ArchiveHints &hints = {});

/// What `smp-import` does: opens the archive, imports it and recovers its
/// composites. Null after diagnostics.
mlir::OwningOpRef<mlir::ModuleOp> importModel(mlir::MLIRContext *context,
                                              const std::string &path);

/// The ATen operators that can be imported, sorted.
std::vector<std::string> importedOperators();

} // namespace smp

#endif // SMP_IMPORT_IMPORTER_H
