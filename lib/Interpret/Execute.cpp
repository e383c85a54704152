//===- Execute.cpp - Runs functions on tensors ----------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Interpret/Execute.h"
#include "Semantics.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

/// Whether a tensor has the rank and the static sizes of a type.
static bool fits(const Tensor &tensor, Type type) {
  auto tensorType = dyn_cast<RankedTensorType>(type);
  if (!tensorType)
    return tensor.rank() == 0;
  if (tensorType.getRank() != tensor.rank())
    return false;
  for (auto [expected, actual] :
       llvm::zip_equal(tensorType.getShape(), tensor.shape()))
    if (!ShapedType::isDynamic(expected) && expected != actual)
      return false;
  return true;
}

/// Gives a value the written type and, unless all floating types are lifted,
/// rounds it to that type.
static void settle(Tensor &tensor, Type type, Precision precision) {
  DataType written = dataTypeOf(getElementTypeOrSelf(type));
  tensor = tensor.retyped(written);
  if (precision == Precision::Native || !tensor.isFloat())
    tensor.roundToType();
}

FunctionRun::FunctionRun(func::FuncOp function, std::vector<Tensor> arguments,
                         Context context)
    : program(function), arguments(std::move(arguments)), context(context) {}

LogicalResult FunctionRun::bindArguments() {
  if (program.isExternal())
    return program.emitError("expects a function with a body, got '")
           << program.getName() << "'";
  if (arguments.size() != program.getNumArguments())
    return program.emitError("expects ")
           << program.getNumArguments() << " arguments of '"
           << program.getName() << "', got " << arguments.size();
  for (auto [argument, tensor] :
       llvm::zip_equal(program.getArguments(), arguments)) {
    if (!fits(tensor, argument.getType()))
      return program.emitError("expects argument ")
             << argument.getArgNumber() << " of '" << program.getName()
             << "' of type " << argument.getType() << ", got shape "
             << shapeString(tensor.shape());
    settle(tensor, argument.getType(), context.precision);
    values[argument] = std::move(tensor);
  }
  arguments.clear();
  next = program.getBody().front().begin();
  return success();
}

void FunctionRun::gather(ValueRange operands, SmallVectorImpl<Tensor> &into) {
  for (Value operand : operands)
    into.push_back(values.lookup(operand));
  // The last use of a value ends its life; large models would not fit else.
  for (Value operand : operands) {
    auto [entry, first] = pendingUses.try_emplace(operand, 0);
    if (first)
      entry->second = std::distance(operand.use_begin(), operand.use_end());
    if (--entry->second == 0)
      values.erase(operand);
  }
}

/// Checks results against the types of the op and settles them.
static LogicalResult settleResults(Operation *op,
                                   MutableArrayRef<Tensor> results,
                                   Precision precision) {
  assert(results.size() == op->getNumResults() && "one tensor for each result");
  for (auto [result, tensor] : llvm::zip_equal(op->getResults(), results)) {
    if (!fits(tensor, result.getType()))
      return op->emitError("expects a result of type ")
             << result.getType() << ", got shape "
             << shapeString(tensor.shape());
    settle(tensor, result.getType(), precision);
  }
  return success();
}

LogicalResult FunctionRun::define(Operation *op,
                                  MutableArrayRef<Tensor> results) {
  if (failed(settleResults(op, results, context.precision)))
    return failure();
  for (auto [result, tensor] : llvm::zip_equal(op->getResults(), results))
    if (!result.use_empty())
      values[result] = std::move(tensor);
  return success();
}

/// Runs one op that has semantics of its own.
static LogicalResult interpretOp(Operation *op, Operands operands,
                                 SmallVectorImpl<Tensor> &results,
                                 Context &context) {
  if (auto interpretable = dyn_cast<InterpretableOpInterface>(op))
    return interpretable.interpret(operands, results, context);
  auto diagnostic = op->emitError("expects an op with semantics, got '")
                    << op->getName() << "'";
  diagnostic.attachNote() << "the interpreter runs ops of the smp dialect and "
                             "arithmetic on sizes";
  return diagnostic;
}

LogicalResult FunctionRun::execute(Operation *op) {
  SmallVector<Tensor> operands, results;
  gather(op->getOperands(), operands);
  if (failed(interpretOp(op, operands, results, context)))
    return failure();
  return define(op, results);
}

LogicalResult FunctionRun::advance() {
  if (!started) {
    started = true;
    if (failed(bindArguments()))
      return failure();
  }
  while (!finished && !waiting) {
    Operation *op = &*next;
    if (op->hasTrait<OpTrait::IsTerminator>()) {
      SmallVector<Tensor> results;
      gather(op->getOperands(), results);
      returned.assign(results.begin(), results.end());
      finished = true;
    } else if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
      waiting = collective;
    } else if (failed(execute(op))) {
      return failure();
    } else {
      ++next;
    }
  }
  return success();
}

const Tensor &FunctionRun::contribution() const {
  Value operand = waiting->getOperand(0);
  return values.find(operand)->second;
}

LogicalResult FunctionRun::resume(Tensor result) {
  Operation *op = waiting;
  SmallVector<Tensor> operands;
  gather(op->getOperands(), operands);
  waiting = nullptr;
  ++next;
  return define(op, result);
}

FailureOr<Results> interpret::runBlock(Block &block, Operands arguments,
                                       Context &context) {
  llvm::DenseMap<Value, Tensor> held;
  for (auto [argument, tensor] :
       llvm::zip_equal(block.getArguments(), arguments))
    held[argument] = tensor;
  auto valuesOf = [&](Operation *op) {
    return Results(llvm::map_range(op->getOperands(), [&](Value operand) {
      return held.lookup(operand);
    }));
  };
  for (Operation &op : block.without_terminator()) {
    SmallVector<Tensor> results;
    if (failed(interpretOp(&op, valuesOf(&op), results, context)) ||
        failed(settleResults(&op, results, context.precision)))
      return failure();
    for (auto [result, tensor] : llvm::zip_equal(op.getResults(), results))
      held[result] = std::move(tensor);
  }
  return valuesOf(block.getTerminator());
}

//===----------------------------------------------------------------------===//
// Several ranks
//===----------------------------------------------------------------------===//

/// The members of the group that `self` waits for, by ascending rank; empty
/// while one of them has not arrived at an op with the same members.
static SmallVector<const RankRun *>
arrivedMembers(const RankRun &self, ArrayRef<RankRun> runs, const Grid &grid) {
  auto membersAt = [&](const RankRun &run) {
    return grid.members(run.run->waitingAt().getParticipants(),
                        grid.rank(run.coordinate));
  };
  std::vector<int> ranks = membersAt(self);
  SmallVector<const RankRun *> members;
  for (int rank : ranks) {
    const RankRun *member = llvm::find_if(runs, [&](const RankRun &run) {
      return grid.rank(run.coordinate) == rank;
    });
    if (member == runs.end() || member->run->done() ||
        !member->run->waitingAt() || membersAt(*member) != ranks)
      return {};
    members.push_back(member);
  }
  return members;
}

static LogicalResult runCollective(ArrayRef<const RankRun *> members) {
  SmallVector<Tensor> contributions, results;
  SmallVector<Coordinate> coordinates;
  for (const RankRun *member : members) {
    contributions.push_back(member->run->contribution());
    coordinates.push_back(member->coordinate);
    if (contributions.back().shape() != contributions.front().shape())
      return member->run->waitingAt()->emitOpError(
                 "expects one shape on all ranks, got ")
             << shapeString(contributions.back().shape()) << " and "
             << shapeString(contributions.front().shape());
  }
  for (size_t position = 0; position < members.size(); ++position) {
    FailureOr<Tensor> result = members[position]->run->waitingAt().combine(
        contributions, coordinates, position);
    if (failed(result))
      return failure();
    results.push_back(std::move(*result));
  }
  for (auto [member, result] : llvm::zip_equal(members, results))
    if (failed(member->run->resume(std::move(result))))
      return failure();
  return success();
}

FailureOr<bool> interpret::advanceTogether(ArrayRef<RankRun> runs,
                                           const Grid &grid) {
  for (const RankRun &run : runs)
    if (failed(run.run->advance()))
      return failure();
  bool passed = false;
  for (const RankRun &run : runs) {
    if (run.run->done() || !run.run->waitingAt())
      continue;
    auto members = arrivedMembers(run, runs, grid);
    if (members.empty())
      continue;
    if (failed(runCollective(members)))
      return failure();
    passed = true;
  }
  return passed;
}

LogicalResult interpret::executeTogether(ArrayRef<RankRun> runs,
                                         const Grid &grid) {
  while (true) {
    FailureOr<bool> passed = advanceTogether(runs, grid);
    if (failed(passed))
      return failure();
    const RankRun *stuck = llvm::find_if(
        runs, [](const RankRun &run) { return !run.run->done(); });
    if (stuck == runs.end())
      return success();
    if (!*passed)
      return stuck->run->waitingAt()->emitOpError(
                 "expects all ranks of its group to arrive, but rank ")
             << grid.rank(stuck->coordinate) << " waits for ever";
  }
}

FailureOr<std::vector<Tensor>> interpret::execute(func::FuncOp function,
                                                  std::vector<Tensor> arguments,
                                                  const Context &context) {
  FunctionRun run(function, std::move(arguments), context);
  Grid grid = *Grid::create("cluster", 1, 1, 1);
  if (failed(executeTogether({{&run, {}}}, grid)))
    return failure();
  return run.results();
}
