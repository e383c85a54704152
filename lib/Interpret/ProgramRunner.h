//===- ProgramRunner.h - Steps of programs on virtual ranks -----*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_INTERPRET_PROGRAMRUNNER_H
#define SMP_LIB_INTERPRET_PROGRAMRUNNER_H

#include "Programs.h"
#include "Steps.h"

namespace smp::interpret {

/// A position on the grid and what it holds.
struct VirtualRank {
  Coordinate coordinate;
  std::unique_ptr<RankMemory> memory;
};

class ProgramRunner : public StepRunner {
public:
  ProgramRunner(mlir::ModuleOp module, ModelState model, StepOptions options)
      : StepRunner(module, std::move(model), std::move(options)) {}

  llvm::LogicalResult prepare();

protected:
  llvm::LogicalResult runStep(int64_t step, const TensorMap &batch,
                              StepResult &result) override;
  std::vector<std::string> inputNames() const override { return inputs; }

  /// Gives a replica its ranks with their memories.
  virtual void addReplica(int rdp);
  /// Runs all programs of a step.
  virtual llvm::LogicalResult runPrograms();

  void addRank(Coordinate coordinate, std::unique_ptr<RankMemory> memory);
  /// The function of this name, which the module's verifier found there.
  mlir::func::FuncOp programNamed(llvm::StringRef name);
  llvm::FailureOr<FunctionRun> start(VirtualRank &rank, const Launch &launch);
  llvm::LogicalResult finish(VirtualRank &rank, const Launch &launch,
                             const FunctionRun &run);

  llvm::SmallVector<ChunkOp> chunks;
  llvm::SmallVector<RankOp> ranks;
  std::optional<Grid> grid;
  std::map<std::string, std::string, std::less<>> canonical;
  /// Replica by replica, in each by position on pp.
  std::vector<VirtualRank> virtualRanks;
  const TensorMap *batch = nullptr;
  int64_t currentStep = 0;

private:
  llvm::LogicalResult collectInputs();
  llvm::LogicalResult runChunk(ChunkOp chunk,
                               std::optional<llvm::StringRef> name, int64_t rdp,
                               int64_t microbatch);
  llvm::LogicalResult runRanks(bool update);
  void gatherGradients(StepResult &result);
  void gatherScalars(StepResult &result);
  void gatherOutputs(StepResult &result);
  llvm::LogicalResult gatherModel();

  std::vector<std::string> inputs;
};

} // namespace smp::interpret

#endif // SMP_LIB_INTERPRET_PROGRAMRUNNER_H
