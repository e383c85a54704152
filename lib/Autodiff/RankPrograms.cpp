//===- RankPrograms.cpp - What ranks hold, and begin_step -----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankPrograms.h"
#include "smp/Autodiff/Differentiate.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

//===----------------------------------------------------------------------===//
// Holdings
//===----------------------------------------------------------------------===//

namespace {
/// Reads the bindings of the programs of one chunk into the holdings.
class Collector {
public:
  Collector(Holdings &holdings, int64_t rank,
            llvm::StringMap<unsigned> &positions)
      : holdings(holdings), rank(rank), positions(positions) {}

  void visitArgument(BindingAttr binding, Type type) {
    if (binding.getKind() == BindingKind::Count)
      holdings.counts[binding.getKey().str()].readers.insert(rank);
    if (binding.getKind() == BindingKind::Loss)
      holdings.losses[rank][binding.getKey().str()] = type;
    if (Holdings::Trained *entry = find(binding, BindingKind::Parameter))
      entry->holders.insert(rank);
    if (Holdings::Trained *entry = find(binding, BindingKind::Gradient))
      entry->gradients[binding.getKey().str()] = rank;
  }

  void visitResult(BindingAttr binding, Type type) {
    if (binding.getKind() == BindingKind::Count)
      holdings.counts[binding.getKey().str()].producers.insert(rank);
    if (binding.getKind() == BindingKind::State)
      holdings.states[rank][binding.getKey().str()] =
          cast<RankedTensorType>(type);
  }

private:
  Holdings::Trained *find(BindingAttr binding, BindingKind kind) {
    if (binding.getKind() != kind)
      return nullptr;
    auto found = positions.find(binding.getKey());
    return found == positions.end() ? nullptr
                                    : &holdings.trained[found->second];
  }

  Holdings &holdings;
  int64_t rank;
  llvm::StringMap<unsigned> &positions;
};
} // namespace

static void visitArguments(ModuleOp module, FlatSymbolRefAttr name,
                           Collector &collector) {
  auto function =
      name ? module.lookupSymbol<func::FuncOp>(name) : func::FuncOp();
  if (!function)
    return;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (BindingAttr binding = getArgumentBinding(function, i))
      collector.visitArgument(binding, function.getArgumentTypes()[i]);
}

static void visitResults(ModuleOp module, FlatSymbolRefAttr name,
                         Collector &collector) {
  auto function =
      name ? module.lookupSymbol<func::FuncOp>(name) : func::FuncOp();
  if (!function)
    return;
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (BindingAttr binding = getResultBinding(function, i))
      collector.visitResult(binding, function.getResultTypes()[i]);
}

Holdings::Holdings(ModuleOp module, const ParameterTable &parameters) {
  llvm::StringMap<unsigned> positions;
  for (ParameterOp parameter : parameters.getAll()) {
    if (parameter.getFrozen())
      continue;
    positions[parameter.getSymName()] = trained.size();
    for (auto alias : parameter.getAliases().getAsRange<StringAttr>())
      positions[alias.getValue()] = trained.size();
    trained.push_back({parameter, {}, {}});
  }
  for (auto chunk : module.getOps<ChunkOp>()) {
    ranks.insert(chunk.getRank());
    Collector collector(*this, chunk.getRank(), positions);
    for (FlatSymbolRefAttr program :
         {chunk.getForwardAttr(), chunk.getBackwardAttr(),
          chunk.getEvaluateAttr(), chunk.getPredictAttr()})
      visitArguments(module, program, collector);
    visitResults(module, chunk.getCountAttr(), collector);
    visitResults(module, chunk.getForwardAttr(), collector);
  }
  llvm::erase_if(trained,
                 [](const Trained &entry) { return entry.gradients.empty(); });
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

std::string smp::quoted(StringRef name) { return ("'" + name + "'").str(); }

LayoutAttr smp::partialOverReplicas(MLIRContext *context) {
  auto axis = AxisAttr::get(context, "rdp", ArrayRef<int64_t>());
  return LayoutAttr::get(
      context, {AxisPlacementAttr::get(context, axis, Placement::Partial, 0)});
}

LayoutAttr smp::overStages(MLIRContext *context, const std::set<int64_t> &ranks,
                           Placement placement, int64_t argument) {
  auto axis = AxisAttr::get(context, "pp", llvm::to_vector(ranks));
  return LayoutAttr::get(
      context, {AxisPlacementAttr::get(context, axis, placement, argument)});
}

Value smp::replicate(ProgramBuilder &program, Value value, LayoutAttr layout,
                     StringRef cause) {
  auto replicated =
      LayoutAttr::get(layout.getContext(), ArrayRef<AxisPlacementAttr>());
  return ReshardOp::create(program.getBuilder(), value.getLoc(), value, layout,
                           replicated, cause);
}

//===----------------------------------------------------------------------===//
// begin_step
//===----------------------------------------------------------------------===//

static Value createZero(ProgramBuilder &program, Type type) {
  OpBuilder &builder = program.getBuilder();
  return FillOp::create(builder, program.getLoc(), type,
                        builder.getF64FloatAttr(0.0), ValueRange());
}

/// The number of means in a step, which each rank knows.
static void addShares(ProgramBuilder &program, const std::string &term,
                      int64_t shares) {
  OpBuilder &builder = program.getBuilder();
  Value own =
      FillOp::create(builder, program.getLoc(),
                     RankedTensorType::get({}, builder.getI64Type()),
                     builder.getF64FloatAttr(double(shares)), ValueRange());
  program.addResult(
      BindingKind::Count, term,
      replicate(program, own, partialOverReplicas(builder.getContext()),
                "means of " + quoted(term) + " over the replicas"));
}

/// The count of a term over all replicas, on every rank that reads it.
static void addCount(ProgramBuilder &program, const std::string &term,
                     const Holdings::Count &count, int64_t rank) {
  MLIRContext *context = program.getBuilder().getContext();
  bool produces = count.producers.count(rank),
       reads = count.readers.count(rank);
  bool shared = !llvm::all_of(count.readers, [&](int64_t reader) {
    return count.producers.count(reader) > 0;
  });
  if (!reads && !(produces && shared))
    return;
  Type type = RankedTensorType::get({}, program.getBuilder().getI64Type());
  Value value;
  if (produces)
    value =
        replicate(program, program.getArgument(BindingKind::Count, term, type),
                  partialOverReplicas(context),
                  "count of " + quoted(term) + " over the replicas");
  else
    value = createZero(program, type);
  if (shared) {
    std::set<int64_t> group = count.producers;
    group.insert(count.readers.begin(), count.readers.end());
    value = replicate(
        program, value,
        overStages(context, group, Placement::Owned, *count.producers.begin()),
        "count of " + quoted(term) + " for the other stages");
  }
  program.addResult(BindingKind::Count, term, value);
}

func::FuncOp smp::buildBeginStep(ModuleOp module, const Holdings &holdings,
                                 int64_t rank) {
  ProgramBuilder program(module, "rank" + std::to_string(rank) + "_begin_step",
                         module.getLoc());
  auto shares = module->getAttrOfType<IntegerAttr>(kLossSharesAttr);
  for (const auto &[term, count] : holdings.counts)
    if (!shares)
      addCount(program, term, count, rank);
    else if (count.readers.count(rank))
      addShares(program, term, shares.getInt());
  for (const Holdings::Trained &entry : holdings.trained)
    for (const auto &[alias, owner] : entry.gradients)
      if (owner == rank)
        program.addResult(BindingKind::Gradient, alias,
                          createZero(program, entry.parameter.getType()));
  auto losses = holdings.losses.find(rank);
  if (losses != holdings.losses.end())
    for (const auto &[term, type] : losses->second)
      program.addResult(BindingKind::Loss, term, createZero(program, type));
  return program.finish();
}
