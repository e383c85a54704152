//===- Storage.h - Where the values of one program lie ----------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_EMIT_STORAGE_H
#define SMP_LIB_EMIT_STORAGE_H

#include "Commands.h"

#include <map>
#include <vector>

namespace smp::emit {

/// The memory of a program: bound values have fixed places, others share the
/// workspace.
struct ProgramStorage {
  llvm::DenseMap<mlir::Value, Place> places;
  struct Copy {
    mlir::Operation *before; ///< the terminator: at the end
    Place from, to;
  };
  std::vector<Copy> copies;
  std::map<unsigned, Place> outputs; ///< in the workspace, by result
  int64_t workspaceBytes = 0;
};

/// `constants` gives the place of the elements of an `smp.constant`; the
/// temporaries lie in the arena `workspace`, from `begin` on.
ProgramStorage
planStorage(const Program &program,
            llvm::function_ref<Place(BindingAttr, bool isResult)> bound,
            llvm::function_ref<Place(ConstantOp)> constants, unsigned workspace,
            int64_t begin);

} // namespace smp::emit

#endif // SMP_LIB_EMIT_STORAGE_H
