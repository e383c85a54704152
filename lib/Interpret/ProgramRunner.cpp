//===- ProgramRunner.cpp - Steps of programs without a schedule -----------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All virtual ranks in one process. A step runs the counts of all microbatches,
// `begin_step` on all ranks together, for each microbatch the forward programs
// of all chunks and then the backward programs, and `update` on all ranks
// together.
//
//===----------------------------------------------------------------------===//

#include "ScheduleRunner.h"

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

LogicalResult ProgramRunner::prepare() {
  llvm::append_range(chunks, module.getOps<ChunkOp>());
  llvm::sort(chunks, [](ChunkOp lhs, ChunkOp rhs) {
    return lhs.getIndex() < rhs.getIndex();
  });
  llvm::append_range(ranks, module.getOps<RankOp>());
  llvm::sort(ranks, [](RankOp lhs, RankOp rhs) {
    return lhs.getIndex() < rhs.getIndex();
  });
  for (auto [index, rank] : llvm::enumerate(ranks))
    if (rank.getIndex() != index)
      return rank.emitOpError("expects ranks numbered from 0, got ")
             << rank.getIndex();
  for (ChunkOp chunk : chunks)
    if (chunk.getRank() >= ranks.size())
      return chunk.emitOpError("expects a rank below ")
             << ranks.size() << ", got " << chunk.getRank();
  int pp = ranks.size(), world = pp * options.owners;
  grid.emplace(*Grid::create("cluster", pp, 1, world));
  canonical = canonicalNames(module);
  for (int rdp = 0; rdp < options.owners; ++rdp)
    addReplica(rdp);
  return collectInputs();
}

void ProgramRunner::addReplica(int rdp) {
  auto values = std::make_shared<MicrobatchValues>();
  for (int pp = 0; pp < static_cast<int>(ranks.size()); ++pp)
    addRank({pp, 0, rdp},
            std::make_unique<SharedMemory>(model, canonical, values));
}

void ProgramRunner::addRank(Coordinate coordinate,
                            std::unique_ptr<RankMemory> memory) {
  memory->loadInput = [this,
                       coordinate](StringRef name,
                                   int64_t microbatch) -> FailureOr<Tensor> {
    auto entry = batch->find(std::string_view(name));
    if (entry == batch->end())
      return module.emitError("expects input '") << name << "', got none";
    return shareOf(entry->second, coordinate.rdp, microbatch);
  };
  virtualRanks.push_back({coordinate, std::move(memory)});
}

/// The inputs of all programs that a step runs.
LogicalResult ProgramRunner::collectInputs() {
  for (ChunkOp chunk : chunks)
    for (std::optional<StringRef> name :
         {std::optional(chunk.getForward()), chunk.getBackward(),
          chunk.getCount()}) {
      if (!name)
        continue;
      func::FuncOp program = programNamed(*name);
      for (unsigned index = 0; index < program.getNumArguments(); ++index) {
        BindingAttr binding = argumentBinding(program, index);
        if (!binding)
          return failure();
        if (binding.getKind() == BindingKind::Input &&
            !llvm::is_contained(inputs, binding.getKey()))
          inputs.push_back(binding.getKey().str());
      }
    }
  return success();
}

func::FuncOp ProgramRunner::programNamed(StringRef name) {
  return module.lookupSymbol<func::FuncOp>(name);
}

FailureOr<FunctionRun> ProgramRunner::start(VirtualRank &rank,
                                            const Launch &launch) {
  std::vector<Tensor> arguments;
  func::FuncOp program = launch.program;
  for (unsigned index = 0; index < program.getNumArguments(); ++index) {
    FailureOr<Tensor> value = rank.memory->read(launch, index);
    if (failed(value))
      return failure();
    arguments.push_back(std::move(*value));
  }
  return FunctionRun(program, std::move(arguments),
                     contextOf(currentStep, rank.coordinate.rdp,
                               launch.microbatch, rank.coordinate));
}

LogicalResult ProgramRunner::finish(VirtualRank &rank, const Launch &launch,
                                    const FunctionRun &run) {
  for (auto [index, value] : llvm::enumerate(run.results()))
    if (failed(rank.memory->write(launch, index, value)))
      return failure();
  return success();
}

LogicalResult ProgramRunner::runChunk(ChunkOp chunk,
                                      std::optional<StringRef> name,
                                      int64_t rdp, int64_t microbatch) {
  if (!name)
    return success();
  VirtualRank &rank = virtualRanks[rdp * ranks.size() + chunk.getRank()];
  Launch launch = {programNamed(*name), static_cast<int64_t>(chunk.getIndex()),
                   microbatch};
  FailureOr<FunctionRun> run = start(rank, launch);
  if (failed(run) || failed(executeTogether({{&*run, rank.coordinate}}, *grid)))
    return failure();
  return finish(rank, launch, *run);
}

LogicalResult ProgramRunner::runRanks(bool update) {
  std::vector<FunctionRun> runs;
  std::vector<Launch> launches;
  for (VirtualRank &rank : virtualRanks) {
    RankOp op = ranks[rank.coordinate.pp];
    launches.push_back(
        {programNamed(update ? op.getUpdate() : op.getBeginStep())});
    FailureOr<FunctionRun> run = start(rank, launches.back());
    if (failed(run))
      return failure();
    runs.push_back(std::move(*run));
  }
  SmallVector<RankRun> together;
  for (auto [run, rank] : llvm::zip_equal(runs, virtualRanks))
    together.push_back({&run, rank.coordinate});
  if (failed(executeTogether(together, *grid)))
    return failure();
  for (auto [run, launch, rank] : llvm::zip_equal(runs, launches, virtualRanks))
    if (failed(finish(rank, launch, run)))
      return failure();
  return success();
}

LogicalResult ProgramRunner::runPrograms() {
  for (int64_t rdp = 0; rdp < options.owners; ++rdp)
    for (int64_t m = 0; m < options.microbatches(); ++m)
      for (ChunkOp chunk : chunks)
        if (failed(runChunk(chunk, chunk.getCount(), rdp, m)))
          return failure();
  if (failed(runRanks(/*update=*/false)))
    return failure();
  for (int64_t rdp = 0; rdp < options.owners; ++rdp)
    for (int64_t m = 0; m < options.microbatches(); ++m) {
      for (ChunkOp chunk : chunks)
        if (failed(runChunk(chunk, chunk.getForward(), rdp, m)))
          return failure();
      for (ChunkOp chunk : llvm::reverse(chunks))
        if (failed(runChunk(chunk, chunk.getBackward(), rdp, m)))
          return failure();
    }
  return runRanks(/*update=*/true);
}

LogicalResult ProgramRunner::runStep(int64_t step, const TensorMap &stepBatch,
                                     StepResult &result) {
  batch = &stepBatch;
  currentStep = step;
  for (VirtualRank &rank : virtualRanks)
    rank.memory->beginStep();
  if (failed(runPrograms()))
    return failure();
  gatherGradients(result);
  gatherScalars(result);
  gatherOutputs(result);
  return gatherModel();
}

FailureOr<std::unique_ptr<StepRunner>>
interpret::createProgramRunner(ModuleOp module, ModelState model,
                               StepOptions options) {
  std::unique_ptr<ProgramRunner> runner;
  if (auto schedule = module.lookupSymbol<ScheduleOp>("train"))
    runner = std::make_unique<ScheduleRunner>(
        schedule, module, std::move(model), std::move(options));
  else
    runner = std::make_unique<ProgramRunner>(module, std::move(model),
                                             std::move(options));
  if (failed(runner->prepare()))
    return failure();
  return std::unique_ptr<StepRunner>(std::move(runner));
}
