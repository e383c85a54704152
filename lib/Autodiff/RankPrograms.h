//===- RankPrograms.h - The programs of a rank, once a step -----*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `begin_step` sums the counts of the loss terms over the replicas, gives them
// to the stages that divide by them, and clears gradients and losses. `update`
// sums gradients over replicas and over the names of a tied parameter, clips
// them and takes a step of the optimizer; states that the forward programs
// have changed, each replica its own, become the mean over the replicas.
//
// Both are programs of all ranks: values that other stages hold are reshards,
// and every rank builds its reshards in the same order of names, so that the
// collectives that they become cannot wait for each other.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_AUTODIFF_RANKPROGRAMS_H
#define SMP_LIB_AUTODIFF_RANKPROGRAMS_H

#include "Parameters.h"
#include "smp/Autodiff/OptimizerSettings.h"
#include "smp/Autodiff/ProgramBuilder.h"

#include "llvm/ADT/SetVector.h"

#include <map>
#include <set>

namespace smp {

/// Which pp ranks hold what, from the bindings of the programs of all chunks.
struct Holdings {
  /// A parameter that has a gradient.
  struct Trained {
    mutable ParameterOp parameter;
    /// Name under which it is used, and the rank that has the gradient of that
    /// use; in order of names.
    std::map<std::string, int64_t> gradients;
    std::set<int64_t> holders;
  };
  struct Count {
    std::set<int64_t> producers, readers;
  };
  /// In the order of the module.
  mlir::SmallVector<Trained> trained;
  std::map<std::string, Count> counts;
  /// Loss terms and their types, by the rank that has them.
  std::map<int64_t, std::map<std::string, mlir::Type>> losses;
  /// States that forward programs change and their types, by the rank that has
  /// them.
  std::map<int64_t, std::map<std::string, mlir::RankedTensorType>> states;
  std::set<int64_t> ranks;

  Holdings(mlir::ModuleOp module, const ParameterTable &parameters);
};

/// A name as part of a diagnostic or cause: in single quotes.
std::string quoted(llvm::StringRef name);

/// `#smp.layout<rdp = partial>`: to be summed over the replicas.
LayoutAttr partialOverReplicas(mlir::MLIRContext *context);
/// `#smp.layout<pp{ranks} = placement(argument)>`.
LayoutAttr overStages(mlir::MLIRContext *context,
                      const std::set<int64_t> &ranks, Placement placement,
                      int64_t argument = 0);
/// The value in `layout`, replicated.
mlir::Value replicate(ProgramBuilder &program, mlir::Value value,
                      LayoutAttr layout, llvm::StringRef cause);

mlir::func::FuncOp buildBeginStep(mlir::ModuleOp module,
                                  const Holdings &holdings, int64_t rank);
mlir::func::FuncOp buildUpdate(mlir::ModuleOp module, const Holdings &holdings,
                               const OptimizerSettings &settings, int64_t rank);

} // namespace smp

#endif // SMP_LIB_AUTODIFF_RANKPROGRAMS_H
