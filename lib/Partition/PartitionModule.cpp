//===- PartitionModule.cpp - Gives every op of a model its chunk -*- C++
//-*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Partition/PartitionModule.h"

#include "OpGroups.h"
#include "smp/Autodiff/SavedValues.h"
#include "smp/Partition/Layout.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace smp;

namespace {

/// What a core does in a second. Only the ratio of the two matters for a plan;
/// they are those of one core of a current server.
constexpr double kFlopsPerSecond = 5e10, kBytesPerSecond = 1e10;
/// A backward pass takes twice the time of its forward.
constexpr double kPasses = 3.0;

int64_t bytesOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() *
         llvm::divideCeil(tensor.getElementTypeBitWidth(), 8);
}

class ModulePartition {
public:
  ModulePartition(ModuleOp module, func::FuncOp train,
                  const PartitionOptions &options)
      : module(module), train(train), options(options) {
    OpGroups collected = OpGroups::collect(train, cloneable);
    groups = std::move(collected.groups);
    groupOf = std::move(collected.groupOf);
  }

  FailureOr<PartitionReport> run();

private:
  partition::LinearProblem buildProblem();
  void addMemory(std::vector<partition::Unit> &units);
  void addCuts(partition::LinearProblem &problem);
  void keepStatesWhole(partition::LinearProblem &problem);
  Result<std::vector<int>> chooseChunks(PartitionReport &report);
  Result<std::vector<int>> chooseAutomatically(PartitionReport &report);
  Result<std::vector<int>> chooseManually(PartitionReport &report);
  Result<std::vector<int>> chooseByLayout(PartitionReport &report);
  Result<std::vector<int>> chunksOf(const std::vector<int> &partitionOf,
                                    bool contiguous, PartitionReport &report);
  std::vector<std::string> pathsOfGroups() const;
  void assignChunks(const std::vector<int> &chunkOfGroup);

  ModuleOp module;
  func::FuncOp train;
  const PartitionOptions &options;
  CloneableValues cloneable;
  std::vector<OpGroup> groups;
  DenseMap<Operation *, int> groupOf;
  /// The parameter that most groups lie between whose ends read it.
  std::pair<int, std::string> widest;
};

} // namespace

/// Parameters, their gradients and optimizer state, on the first group that
/// uses them; and saved values, on the group whose gradient reads them.
void ModulePartition::addMemory(std::vector<partition::Unit> &units) {
  train.walk([&](GetParameterOp read) {
    if (read->use_empty())
      return;
    auto reader = groupOf.find(*read->getUsers().begin());
    if (reader == groupOf.end())
      return;
    auto type = cast<RankedTensorType>(read.getType());
    int64_t elements = type.getNumElements();
    units[reader->second].residentBytes +=
        2 * bytesOf(type) + elements * options.optimizerBytes;
  });
  forEachSavedValue(train, [&](Operation *reader, Value saved) {
    auto group = groupOf.find(reader);
    if (group != groupOf.end())
      units[group->second].stashBytes += bytesOf(saved.getType());
  });
}

/// A state is read and changed in one chunk.
void ModulePartition::keepStatesWhole(partition::LinearProblem &problem) {
  llvm::StringMap<int> changes;
  Operation *terminator = train.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
    auto role = train.getResultAttrOfType<StringAttr>(index, kRoleAttr);
    auto name = train.getResultAttrOfType<StringAttr>(index, kNameAttr);
    Operation *op = value.getDefiningOp();
    if (role && role == "state" && name && op && groupOf.count(op))
      changes[name.getValue()] = groupOf[op];
  }
  train.walk([&](GetStateOp read) {
    auto change = changes.find(read.getState());
    if (change == changes.end())
      return;
    for (Operation *user : read->getUsers()) {
      auto group = groupOf.find(user);
      if (group == groupOf.end())
        continue;
      auto [first, last] = std::minmax(group->second, change->second);
      for (int cut = first; cut < last; ++cut)
        problem.cuts[cut].allowed = false;
    }
  });
}

/// The bytes that cross between neighbours: each value between its definition
/// and its last use, forth and, for floats, back. A parameter is read under
/// one name in one chunk only.
void ModulePartition::addCuts(partition::LinearProblem &problem) {
  problem.cuts.resize(groups.size() - 1);
  auto lastUse = [&](Value value) {
    int last = -1;
    for (Operation *user : value.getUsers())
      if (auto group = groupOf.find(user); group != groupOf.end())
        last = std::max(last, group->second);
    return last;
  };
  for (auto [op, first] : groupOf)
    for (Value result : op->getResults()) {
      if (cloneable.isCloneable(result))
        continue;
      int64_t bytes = 2 * bytesOf(result.getType());
      for (int cut = first; cut < lastUse(result); ++cut)
        problem.cuts[cut].bytes += bytes;
    }
  train.walk([&](GetParameterOp read) {
    int first = groups.size();
    for (Operation *user : read->getUsers())
      if (auto group = groupOf.find(user); group != groupOf.end())
        first = std::min(first, group->second);
    int last = lastUse(read);
    for (int cut = first; cut < last; ++cut)
      problem.cuts[cut].allowed = false;
    widest = std::max(widest, {last - first, read.getAlias().str()});
  });
}

partition::LinearProblem ModulePartition::buildProblem() {
  partition::LinearProblem problem;
  problem.stages = options.partitions;
  problem.memoryWeight = options.memoryWeight;
  problem.inFlight = options.inFlight;
  problem.secondsPerByte = 1 / kBytesPerSecond;
  for (const OpGroup &group : groups) {
    partition::Unit unit{group.path};
    for (Operation *op : group.ops)
      if (auto cost = dyn_cast<CostOpInterface>(op))
        unit.time += kPasses * std::max(cost.getFlops() / kFlopsPerSecond,
                                        cost.getBytes() / kBytesPerSecond);
    problem.units.push_back(std::move(unit));
  }
  addMemory(problem.units);
  addCuts(problem);
  keepStatesWhole(problem);
  return problem;
}

Result<std::vector<int>>
ModulePartition::chooseAutomatically(PartitionReport &report) {
  partition::LinearProblem problem = buildProblem();
  partition::Assignment pins{options.assignment, std::nullopt,
                             static_cast<int>(options.partitions)};
  SMP_ASSIGN_OR_RETURN(auto pinned,
                       partition::resolveAssignment(pins, pathsOfGroups()));
  for (auto [unit, pin] : llvm::zip(problem.units, pinned))
    unit.pin = pin;
  Result<partition::LinearPlan> made = partition::partitionLinear(problem);
  if (!made && widest.first > 0) {
    Error error = made.error();
    error.note += "; the modules between two that read '" + widest.second +
                  "' stay on one stage";
    return error;
  }
  if (!made)
    return made.error();
  partition::LinearPlan plan = std::move(*made);
  std::vector<int> chunks;
  for (size_t group = 0; group < groups.size(); ++group)
    chunks.push_back(plan.stageOf(group));
  for (int64_t stage = 0; stage < options.partitions; ++stage)
    report.rankOfChunk.push_back(stage);
  report.stages = plan.stages;
  report.objective = plan.objective;
  report.bound = plan.anyOrderBound;
  report.transferBytes = plan.transferBytes;
  report.explanations = plan.explanations;
  return chunks;
}

Result<std::vector<int>>
ModulePartition::chooseManually(PartitionReport &report) {
  partition::Assignment assignment{options.assignment, options.defaultPartition,
                                   static_cast<int>(options.partitions)};
  SMP_ASSIGN_OR_RETURN(
      auto resolved, partition::resolveAssignment(assignment, pathsOfGroups()));
  std::vector<int> partitionOf;
  for (std::optional<int> choice : resolved)
    partitionOf.push_back(choice.value_or(*options.defaultPartition));
  return chunksOf(partitionOf, options.contiguous, report);
}

/// Stage s lies on rank s mod pp, which may have several.
Result<std::vector<int>>
ModulePartition::chooseByLayout(PartitionReport &report) {
  int ranks = static_cast<int>(options.partitions);
  SMP_ASSIGN_OR_RETURN(
      std::vector<int> stages,
      partition::stagesByLayout(*options.layout, pathsOfGroups(), ranks));
  for (int &stage : stages)
    stage %= ranks;
  return chunksOf(stages, /*contiguous=*/false, report);
}

std::vector<std::string> ModulePartition::pathsOfGroups() const {
  std::vector<std::string> paths;
  for (const OpGroup &group : groups)
    paths.push_back(group.path);
  return paths;
}

/// Neighbours of one partition are one chunk.
Result<std::vector<int>>
ModulePartition::chunksOf(const std::vector<int> &partitionOf, bool contiguous,
                          PartitionReport &report) {
  SMP_ASSIGN_OR_RETURN(
      auto runs,
      partition::runsOf(partitionOf, options.partitions, contiguous));
  std::vector<int> chunks;
  for (auto [chunk, run] : llvm::enumerate(runs)) {
    report.rankOfChunk.push_back(run.partition);
    chunks.insert(chunks.end(), run.end - run.begin, chunk);
  }
  return chunks;
}

Result<std::vector<int>>
ModulePartition::chooseChunks(PartitionReport &report) {
  if (options.layout)
    return chooseByLayout(report);
  return options.defaultPartition ? chooseManually(report)
                                  : chooseAutomatically(report);
}

/// Ops that follow their users get the first of the users' chunks.
void ModulePartition::assignChunks(const std::vector<int> &chunkOfGroup) {
  Builder builder(module.getContext());
  auto chunkOf = [](Operation *op) -> std::optional<int64_t> {
    if (auto chunk = op->getAttrOfType<IntegerAttr>(kChunkAttr))
      return chunk.getInt();
    return std::nullopt;
  };
  Block &block = train.getBody().front();
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    std::optional<int64_t> chunk;
    if (auto group = groupOf.find(&op); group != groupOf.end())
      chunk = chunkOfGroup[group->second];
    else
      for (Operation *user : op.getUsers())
        if (std::optional<int64_t> candidate = chunkOf(user))
          chunk = chunk ? std::min(*chunk, *candidate) : candidate;
    op.setAttr(kChunkAttr, builder.getI64IntegerAttr(chunk.value_or(0)));
  }
}

FailureOr<PartitionReport> ModulePartition::run() {
  if (static_cast<int64_t>(groups.size()) < options.partitions)
    return train.emitError()
           << "expects at most as many partitions as the model has modules, "
           << groups.size() << ", got " << options.partitions;
  PartitionReport report;
  Result<std::vector<int>> chunks = chooseChunks(report);
  if (!chunks) {
    InFlightDiagnostic diagnostic = train.emitError(chunks.error().message);
    if (!chunks.error().note.empty())
      diagnostic.attachNote() << chunks.error().note;
    return diagnostic;
  }
  assignChunks(*chunks);
  for (auto [index, group] : llvm::enumerate(groups)) {
    int64_t first = std::distance(train.getBody().front().begin(),
                                  Block::iterator(group.ops.front()));
    report.units.push_back({group.path, first, (*chunks)[index]});
  }
  Builder builder(module.getContext());
  SmallVector<int64_t> ranks(report.rankOfChunk.begin(),
                             report.rankOfChunk.end());
  module->setAttr(kPipelineDegreeAttr,
                  builder.getI64IntegerAttr(options.partitions));
  module->setAttr(kChunkRanksAttr, builder.getDenseI64ArrayAttr(ranks));
  return report;
}

FailureOr<PartitionReport>
smp::partitionModule(ModuleOp module, const PartitionOptions &options) {
  auto train = module.lookupSymbol<func::FuncOp>("train");
  if (!train)
    return module.emitError(
        "expects a function 'train' to partition, got none");
  return ModulePartition(module, train, options).run();
}
