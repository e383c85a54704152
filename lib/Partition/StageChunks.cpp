//===- StageChunks.cpp - Makes each chunk a closed function -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CloneableValues.h"
#include "DerivedGraphs.h"
#include "RowWeights.h"
#include "smp/Autodiff/Differentiate.h"
#include "smp/Autodiff/ProgramBuilder.h"
#include "smp/Partition/PartitionModule.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace smp;

namespace {

int64_t chunkOf(Operation *op) {
  return op->getAttrOfType<IntegerAttr>(kChunkAttr).getInt();
}

/// What the result of a graph becomes, by its role.
std::optional<BindingKind> bindingOfRole(StringRef role) {
  return llvm::StringSwitch<std::optional<BindingKind>>(role)
      .Case("loss", BindingKind::Loss)
      .Case("output", BindingKind::Output)
      .Case(kMetricRole, BindingKind::Metric)
      .Case("count", BindingKind::Count)
      .Case("state", BindingKind::State)
      .Default(std::nullopt);
}

/// Whether a result adds to its old value instead of replacing it.
bool accumulates(BindingKind kind) {
  return kind == BindingKind::Metric || kind == BindingKind::Count;
}

/// Cuts one graph into the programs of its chunks.
class GraphStager {
public:
  GraphStager(func::FuncOp graph, int64_t chunks, int64_t &activations)
      : graph(graph), chunks(chunks), activations(activations) {}

  /// The programs, one for each chunk, named `chunk<c>_<suffix>`. Results of
  /// roles other than `kept` are left out.
  FailureOr<SmallVector<func::FuncOp>> run(StringRef suffix,
                                           ArrayRef<StringRef> kept);

private:
  /// A value that later chunks use.
  struct Crossing {
    std::string key;
    int64_t first, last;
  };
  void findCrossings(ArrayRef<StringRef> kept);
  void noteUse(Value value, int64_t chunk);
  std::string keyOf(OpResult value);
  func::FuncOp build(int64_t chunk, StringRef suffix, ArrayRef<StringRef> kept);
  Value lookup(ProgramBuilder &program, IRMapping &mapping, Value value,
               int64_t chunk);
  Value source(ProgramBuilder &program, OpResult result, IRMapping &mapping,
               int64_t chunk);
  void addResults(ProgramBuilder &program, IRMapping &mapping, int64_t chunk,
                  ArrayRef<StringRef> kept);
  void setInputRoles(func::FuncOp program);
  bool isKept(unsigned result, ArrayRef<StringRef> kept);
  StringRef role(unsigned result) {
    return graph.getResultAttrOfType<StringAttr>(result, kRoleAttr).getValue();
  }
  /// The chunk that gives a result; that of its user for one made anywhere.
  int64_t chunkOfResult(Value value);

  func::FuncOp graph;
  int64_t chunks;
  int64_t &activations;
  CloneableValues cloneable;
  llvm::MapVector<Value, Crossing> crossings;
};

} // namespace

bool GraphStager::isKept(unsigned result, ArrayRef<StringRef> kept) {
  return llvm::is_contained(kept, role(result));
}

int64_t GraphStager::chunkOfResult(Value value) {
  return isa<OpResult>(value) ? chunkOf(value.getDefiningOp()) : 0;
}

std::string GraphStager::keyOf(OpResult value) {
  Operation *op = value.getOwner();
  SmallVector<int64_t> numbers(op->getNumResults(), -1);
  if (auto known = op->getAttrOfType<DenseI64ArrayAttr>(kActivationsAttr))
    numbers.assign(known.asArrayRef().begin(), known.asArrayRef().end());
  int64_t &number = numbers[value.getResultNumber()];
  if (number < 0)
    number = activations++;
  op->setAttr(kActivationsAttr,
              DenseI64ArrayAttr::get(op->getContext(), numbers));
  return "v" + std::to_string(number);
}

/// Records that `chunk` uses `value`; a chunk that makes the value itself uses
/// what it is made of.
void GraphStager::noteUse(Value value, int64_t chunk) {
  auto result = dyn_cast<OpResult>(value);
  if (!result || cloneable.isCloneable(value) ||
      isa<GetParameterOp>(result.getOwner()))
    return;
  int64_t first = chunkOf(result.getOwner());
  if (first >= chunk)
    return;
  auto entry = crossings.try_emplace(value, Crossing{"", first, chunk}).first;
  entry->second.last = std::max(entry->second.last, chunk);
}

void GraphStager::findCrossings(ArrayRef<StringRef> kept) {
  Block &block = graph.getBody().front();
  for (Operation &op : block.without_terminator())
    for (Value operand : op.getOperands())
      if (!cloneable.isCloneable(op.getResult(0)))
        noteUse(operand, chunkOf(&op));
  // In order of definition, so that names follow the model.
  SmallVector<std::pair<Value, Crossing>> sorted(crossings.begin(),
                                                 crossings.end());
  llvm::sort(sorted, [](auto &a, auto &b) {
    Operation *first = a.first.getDefiningOp(),
              *second = b.first.getDefiningOp();
    if (first == second)
      return cast<OpResult>(a.first).getResultNumber() <
             cast<OpResult>(b.first).getResultNumber();
    return first->isBeforeInBlock(second);
  });
  crossings.clear();
  for (auto &[value, crossing] : sorted) {
    crossing.key = keyOf(cast<OpResult>(value));
    crossings.insert({value, crossing});
  }
}

/// A value that comes from no other chunk: an argument of the program, or the
/// result of a clone.
Value GraphStager::source(ProgramBuilder &program, OpResult result,
                          IRMapping &mapping, int64_t chunk) {
  Operation *op = result.getOwner();
  if (auto read = dyn_cast<GetParameterOp>(op))
    return program.getArgument(BindingKind::Parameter, read.getAlias(),
                               result.getType());
  if (auto read = dyn_cast<GetStateOp>(op))
    return program.getArgument(BindingKind::State, read.getState(),
                               result.getType());
  for (Value operand : op->getOperands())
    mapping.map(operand, lookup(program, mapping, operand, chunk));
  Operation *clone = program.getBuilder().clone(*op, mapping);
  clone->removeAttr(kChunkAttr);
  clone->removeAttr(kActivationsAttr);
  return mapping.lookup(result);
}

Value GraphStager::lookup(ProgramBuilder &program, IRMapping &mapping,
                          Value value, int64_t chunk) {
  if (Value mapped = mapping.lookupOrNull(value))
    return mapped;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto name =
        graph.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr);
    return program.getArgument(BindingKind::Input, name.getValue(),
                               value.getType());
  }
  auto crossing = crossings.find(value);
  if (crossing != crossings.end() && crossing->second.first < chunk)
    return program.getArgument(BindingKind::Activation, crossing->second.key,
                               value.getType());
  return source(program, cast<OpResult>(value), mapping, chunk);
}

void GraphStager::addResults(ProgramBuilder &program, IRMapping &mapping,
                             int64_t chunk, ArrayRef<StringRef> kept) {
  for (auto &[value, crossing] : crossings)
    if (crossing.first <= chunk && crossing.last > chunk)
      program.addResult(BindingKind::Activation, crossing.key,
                        lookup(program, mapping, value, chunk));
  Operation *terminator = graph.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
    if (!isKept(index, kept) || chunkOfResult(value) != chunk)
      continue;
    BindingKind kind = *bindingOfRole(role(index));
    StringRef key =
        graph.getResultAttrOfType<StringAttr>(index, kNameAttr).getValue();
    Value result = lookup(program, mapping, value, chunk);
    if (accumulates(kind))
      result = AddOp::create(program.getBuilder(), value.getLoc(),
                             program.getArgument(kind, key, result.getType()),
                             result);
    program.addResult(kind, key, result);
  }
}

/// The runtime reads labels otherwise than inputs, whatever they are called.
void GraphStager::setInputRoles(func::FuncOp program) {
  for (unsigned i = 0; i < graph.getNumArguments(); ++i) {
    auto role = graph.getArgAttrOfType<StringAttr>(i, kRoleAttr);
    auto name = graph.getArgAttrOfType<StringAttr>(i, kNameAttr);
    auto binding = BindingAttr::get(program.getContext(), BindingKind::Input,
                                    name.getValue());
    for (unsigned j = 0; role && j < program.getNumArguments(); ++j)
      if (getArgumentBinding(program, j) == binding)
        program.setArgAttr(j, kRoleAttr, role);
  }
}

func::FuncOp GraphStager::build(int64_t chunk, StringRef suffix,
                                ArrayRef<StringRef> kept) {
  auto module = graph->getParentOfType<ModuleOp>();
  ProgramBuilder program(module, ("chunk" + Twine(chunk) + "_" + suffix).str(),
                         graph.getLoc());
  IRMapping mapping;
  for (Operation &op : graph.getBody().front().without_terminator()) {
    bool mine = chunkOf(&op) == chunk && !isa<GetParameterOp, GetStateOp>(op);
    if (mine && !mapping.contains(op.getResult(0)))
      source(program, op.getResult(0), mapping, chunk);
  }
  addResults(program, mapping, chunk, kept);
  func::FuncOp function = program.finish();
  setInputRoles(function);
  return function;
}

FailureOr<SmallVector<func::FuncOp>>
GraphStager::run(StringRef suffix, ArrayRef<StringRef> kept) {
  Block &block = graph.getBody().front();
  eraseDeadOps(block);
  for (Operation &op : block.without_terminator())
    if (!op.hasAttr(kChunkAttr))
      return op.emitError("expects the attribute '")
             << kChunkAttr << "' of a partitioned op, got none";
  for (unsigned index = 0; index < graph.getNumResults(); ++index)
    if (isKept(index, kept) && !bindingOfRole(role(index)))
      return graph.emitError("expects results of role loss or output, got '")
             << role(index) << "'";
  findCrossings(kept);
  SmallVector<func::FuncOp> programs;
  for (int64_t chunk = 0; chunk < chunks; ++chunk)
    programs.push_back(build(chunk, suffix, kept));
  return programs;
}

/// Checks what staging relies on; gives the ranks of the chunks.
static FailureOr<DenseI64ArrayAttr> verifyPartitioned(ModuleOp module,
                                                      func::FuncOp train) {
  auto ranks = module->getAttrOfType<DenseI64ArrayAttr>(kChunkRanksAttr);
  auto rows = module->getAttrOfType<IntegerAttr>("smp.rows");
  if (!train || !ranks || !rows)
    return module.emitError("expects a partitioned module, with a function "
                            "'train' and the attributes '")
           << kChunkRanksAttr << "' and 'smp.rows', got another";
  for (unsigned index = 0; index < train.getNumResults(); ++index)
    if (!train.getResultAttrOfType<StringAttr>(index, kRoleAttr) ||
        !train.getResultAttrOfType<StringAttr>(index, kNameAttr))
      return train.emitError("expects a name and a role of result ")
             << index << ", got none";
  for (unsigned index = 0; index < train.getNumArguments(); ++index)
    if (!train.getArgAttrOfType<StringAttr>(index, kNameAttr))
      return train.emitError("expects a name of argument ")
             << index << ", got none";
  return ranks;
}

/// A state that one chunk changes is that chunk's: another one, which may be on
/// another rank, would read an old value.
static LogicalResult
verifyChangedStates(ArrayRef<SmallVector<func::FuncOp>> programs) {
  llvm::StringMap<size_t> owners;
  for (auto [chunk, function] : llvm::enumerate(programs.front())) {
    func::FuncOp forward = function;
    for (unsigned i = 0; i < forward.getNumResults(); ++i)
      if (BindingAttr binding = getResultBinding(forward, i);
          binding.getKind() == BindingKind::State)
        owners[binding.getKey()] = chunk;
  }
  for (const SmallVector<func::FuncOp> &all : programs)
    for (auto [chunk, function] : llvm::enumerate(all)) {
      func::FuncOp program = function;
      for (unsigned i = 0; i < program.getNumArguments(); ++i) {
        BindingAttr binding = getArgumentBinding(program, i);
        auto owner = owners.find(binding.getKey());
        if (binding.getKind() != BindingKind::State || owner == owners.end() ||
            owner->second == chunk)
          continue;
        return program.emitError("expects state '")
               << binding.getKey()
               << "', which the model changes, in one chunk, got it in chunks "
               << owner->second << " and " << chunk;
      }
    }
  return success();
}

static FlatSymbolRefAttr symbolOf(func::FuncOp function) {
  return FlatSymbolRefAttr::get(function);
}

LogicalResult smp::stageChunks(ModuleOp module) {
  auto train = module.lookupSymbol<func::FuncOp>("train");
  FailureOr<DenseI64ArrayAttr> ranks = verifyPartitioned(module, train);
  if (failed(ranks))
    return failure();
  int64_t chunks = ranks->size(), activations = 0;
  int64_t rows = module->getAttrOfType<IntegerAttr>("smp.rows").getInt();

  auto stage = [&](func::FuncOp graph, StringRef suffix,
                   ArrayRef<StringRef> roles) {
    return GraphStager(graph, chunks, activations).run(suffix, roles);
  };
  // Padded rows can be left out of a step unless they change the others. An
  // evaluation reads all samples, whether steps leave some out or not.
  if (!module->hasAttr(kDropLastAttr))
    (void)weighRows(train, rows);
  FailureOr<SmallVector<func::FuncOp>> forward =
      stage(train, "forward", {"loss", "state"});
  if (failed(forward))
    return failure();
  FailureOr<func::FuncOp> evaluateGraph = deriveEvaluate(train, rows);
  if (failed(evaluateGraph))
    return failure();
  func::FuncOp predictGraph = derivePredict(train);
  auto evaluate = stage(*evaluateGraph, "evaluate", {kMetricRole});
  auto predict = stage(predictGraph, "predict", {"output"});
  // Where each microbatch's mean stands for itself, nothing is counted before.
  FailureOr<SmallVector<func::FuncOp>> count =
      SmallVector<func::FuncOp>(chunks);
  if (!module->hasAttr(kLossSharesAttr)) {
    FailureOr<func::FuncOp> countGraph = deriveCount(train);
    if (failed(countGraph))
      return failure();
    count = stage(*countGraph, "count", {"count"});
    countGraph->erase();
  }
  if (failed(evaluate) || failed(predict) || failed(count) ||
      failed(verifyChangedStates({*forward, *evaluate, *predict})))
    return failure();
  for (func::FuncOp graph : {train, *evaluateGraph, predictGraph})
    graph.erase();
  if (auto eval = module.lookupSymbol<func::FuncOp>("eval"))
    eval.erase();

  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    FlatSymbolRefAttr counts;
    if (func::FuncOp program = (*count)[chunk]) {
      if (program.getNumResults() > 0)
        counts = symbolOf(program);
      else
        program.erase();
    }
    std::string name = "chunk" + std::to_string(chunk);
    ChunkOp::create(builder, module.getLoc(), builder.getStringAttr(name),
                    builder.getI64IntegerAttr(chunk),
                    builder.getI64IntegerAttr((*ranks)[chunk]), counts,
                    symbolOf((*forward)[chunk]), FlatSymbolRefAttr(),
                    symbolOf((*evaluate)[chunk]), symbolOf((*predict)[chunk]));
  }
  return success();
}
