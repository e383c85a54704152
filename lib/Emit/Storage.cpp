//===- Storage.cpp - Where the values of one program lie -------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value that is returned is computed where its binding lies, unless somebody
// still reads what lies there; then it is computed elsewhere and copied at the
// end. Outputs lie among the temporaries and live to the end. Commands that
// work in place (collectives, accumulating products) keep their operand's
// memory if nobody reads it later, else they get a copy. A result takes the
// memory of an operand that dies with the command where the command allows it.
//
//===----------------------------------------------------------------------===//

#include "Storage.h"
#include "smp/Memory/ArenaPlan.h"

#include <optional>
#include <utility>

using namespace mlir;
using namespace smp;
using namespace smp::emit;

namespace {

class StoragePlanner {
public:
  StoragePlanner(const Program &program,
                 llvm::function_ref<Place(BindingAttr, bool)> bound,
                 llvm::function_ref<Place(ConstantOp)> constants,
                 unsigned workspace, int64_t begin)
      : program(program),
        block(func::FuncOp(program.function).getBody().front()), bound(bound),
        constants(constants), workspace(workspace), begin(begin) {}

  ProgramStorage run() {
    findUses();
    placeArguments();
    chooseResultPlaces();
    for (Operation &op : block.without_terminator())
      placeResults(&op);
    finishCopies();
    return collect();
  }

private:
  /// A piece of memory, maybe of several values in turn.
  struct Memory {
    bool fixed = false;
    Place place;
    bool mayClobber = false; ///< fixed, but nobody reads it after the program
    int64_t first = 0, last = 0;
    SmallVector<Value> values;
  };

  static Value base(Value value) {
    while (Operation *op = value.getDefiningOp()) {
      auto command = dyn_cast<CommandOpInterface>(op);
      if (!command || !command.isView())
        break;
      value = op->getOperand(0);
    }
    return value;
  }

  void findUses() {
    int64_t position = 0;
    for (Operation &op : block) {
      positions[&op] = position;
      auto command = dyn_cast<CommandOpInterface>(op);
      if (!command || !command.isView())
        for (Value operand : op.getOperands())
          lastUse[base(operand)] = position;
      ++position;
    }
    end = position - 1;
  }

  unsigned newMemory(Memory memory) {
    memories.push_back(std::move(memory));
    return memories.size() - 1;
  }

  void assign(Value value, unsigned memory) {
    memoryOf[value] = memory;
    memories[memory].values.push_back(value);
    memories[memory].last = std::max(memories[memory].last, lastUseOf(value));
  }

  int64_t lastUseOf(Value value) {
    auto found = lastUse.find(value);
    if (found != lastUse.end())
      return found->second;
    Operation *op = value.getDefiningOp();
    return op ? positions[op] : -1;
  }

  void placeArguments() {
    for (BlockArgument argument : block.getArguments()) {
      BindingAttr binding = program.argument(argument.getArgNumber());
      Memory memory;
      memory.fixed = true;
      memory.place = bound(binding, false);
      memory.mayClobber = binding.getKind() == BindingKind::Gradient;
      assign(argument, newMemory(memory));
    }
  }

  void chooseResultPlaces() {
    for (auto [i, operand] :
         llvm::enumerate(block.getTerminator()->getOperands())) {
      if (program.result(i).getKind() == BindingKind::Output)
        continue;
      Value value = base(operand);
      Place place = bound(program.result(i), true);
      Operation *op = value.getDefiningOp();
      if (!op || isa<ConstantOp>(op) || wanted.count(value)) {
        finalCopies.emplace_back(value, place);
        continue;
      }
      wanted[value] = place;
      hintOperands(value, place);
    }
    for (unsigned i = 0; i < block.getTerminator()->getNumOperands(); ++i)
      if (program.result(i).getKind() == BindingKind::Output)
        placeOutput(i);
  }

  /// What lies at a fixed place anyway is copied to memory of the output's own.
  void placeOutput(unsigned result) {
    Value operand = block.getTerminator()->getOperand(result);
    Value value = base(operand);
    Operation *op = value.getDefiningOp();
    if (op && !isa<ConstantOp>(op) && !wanted.count(value)) {
      outputs.push_back({result, value, std::nullopt});
      return;
    }
    Memory memory;
    memory.place = {workspace, 0, bytesOf(operand.getType()), false};
    memory.first = memory.last = end;
    outputs.push_back({result, value, newMemory(memory)});
  }

  /// What a command that works in place starts from had best be there already.
  void hintOperands(Value value, const Place &place) {
    while (Operation *op = value.getDefiningOp()) {
      int64_t tied = cast<CommandOpInterface>(op).getTiedOperand(
          cast<OpResult>(value).getResultNumber());
      if (tied < 0)
        return;
      value = base(op->getOperand(tied));
      if (!value.hasOneUse() ||
          isa_and_nonnull<ConstantOp>(value.getDefiningOp()))
        return;
      hints.try_emplace(value, place);
    }
  }

  /// The last read of anything that lies at a fixed place, but for reads by
  /// `op` that may happen in place.
  bool isFree(const Place &place, Operation *op, unsigned result) {
    int64_t now = positions[op];
    auto command = cast<CommandOpInterface>(op);
    for (const Memory &memory : memories) {
      if (!memory.fixed || !memory.place.overlaps(place))
        continue;
      for (Value value : memory.values) {
        if (lastUseOf(value) > now)
          return false;
        if (lastUseOf(value) < now)
          continue;
        for (OpOperand &operand : op->getOpOperands())
          if (base(operand.get()) == value &&
              !(memory.place == place &&
                (command.mayTakeMemory(result, operand.getOperandNumber()) ||
                 command.getTiedOperand(result) == operand.getOperandNumber())))
            return false;
      }
    }
    return true;
  }

  void placeResults(Operation *op) {
    auto command = cast<CommandOpInterface>(op);
    if (command.isView())
      return;
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      Memory memory;
      memory.fixed = true;
      memory.place = constants(constant);
      assign(constant.getResult(), newMemory(memory));
      return;
    }
    llvm::SmallDenseSet<unsigned> taken;
    for (OpResult result : op->getResults())
      placeResult(op, command, result, taken);
  }

  void placeResult(Operation *op, CommandOpInterface command, OpResult result,
                   llvm::SmallDenseSet<unsigned> &taken) {
    unsigned number = result.getResultNumber();
    int64_t tied = command.getTiedOperand(number);
    auto want = wanted.find(result), hint = hints.find(result);
    const Place *target = want != wanted.end()  ? &want->second
                          : hint != hints.end() ? &hint->second
                                                : nullptr;
    if (target && isFree(*target, op, number)) {
      Memory memory;
      memory.fixed = true;
      memory.place = *target;
      if (tied >= 0 && !liesAt(op->getOperand(tied), *target))
        copyBefore(op, op->getOperand(tied), result);
      assign(result, newMemory(memory));
      return;
    }
    if (want != wanted.end())
      finalCopies.emplace_back(result, want->second);
    if (tied >= 0) {
      unsigned memory = memoryOf[base(op->getOperand(tied))];
      if (diesHere(memory, op) &&
          (!memories[memory].fixed || memories[memory].mayClobber)) {
        assign(result, memory);
        return;
      }
      copyBefore(op, op->getOperand(tied), result);
    } else if (int64_t memory = dyingOperand(op, command, result, taken);
               memory >= 0) {
      taken.insert(memory);
      assign(result, memory);
      return;
    }
    Memory memory;
    memory.place = {workspace, 0, bytesOf(result.getType()), false};
    memory.first = positions[op];
    assign(result, newMemory(memory));
  }

  bool liesAt(Value value, const Place &place) {
    const Memory &memory = memories[memoryOf[base(value)]];
    return memory.fixed && memory.place == place;
  }

  bool diesHere(unsigned memory, Operation *op) {
    return llvm::all_of(memories[memory].values, [&](Value value) {
      return lastUseOf(value) <= positions[op];
    });
  }

  /// A temporary that `op` reads last and whose memory `result` may take.
  int64_t dyingOperand(Operation *op, CommandOpInterface command,
                       OpResult result,
                       const llvm::SmallDenseSet<unsigned> &taken) {
    for (OpOperand &operand : op->getOpOperands()) {
      auto found = memoryOf.find(base(operand.get()));
      if (found == memoryOf.end())
        continue;
      unsigned memory = found->second;
      unsigned readers = llvm::count_if(op->getOperands(), [&](Value other) {
        auto lies = memoryOf.find(base(other));
        return lies != memoryOf.end() && lies->second == memory;
      });
      if (!memories[memory].fixed && readers == 1 && !taken.count(memory) &&
          memories[memory].place.bytes == bytesOf(result.getType()) &&
          diesHere(memory, op) &&
          command.mayTakeMemory(result.getResultNumber(),
                                operand.getOperandNumber()))
        return memory;
    }
    return -1;
  }

  void copyBefore(Operation *op, Value from, Value to) {
    copies.push_back({op, base(from), to});
  }

  void finishCopies() {
    for (auto &[value, place] : finalCopies)
      if (!liesAt(value, place))
        memories[memoryOf[value]].last = end;
  }

  Place finalPlace(Value value, const std::vector<int64_t> &offsets) {
    return placeOf(memoryOf[value], offsets);
  }

  Place placeOf(unsigned memory, const std::vector<int64_t> &offsets) const {
    Place place = memories[memory].place;
    if (!memories[memory].fixed)
      place.offset = offsets[memory];
    return place;
  }

  ProgramStorage collect() {
    std::vector<memory::LiveBuffer> buffers;
    std::vector<unsigned> which;
    for (auto [i, memory] : llvm::enumerate(memories))
      if (!memory.fixed) {
        buffers.push_back({memory.place.bytes, memory.first,
                           std::max(memory.first, memory.last)});
        which.push_back(i);
      }
    memory::ArenaPlan plan = memory::planArena(buffers);
    std::vector<int64_t> offsets(memories.size());
    for (auto [i, memory] : llvm::enumerate(which))
      offsets[memory] = begin + plan.offsets[i];
    ProgramStorage storage;
    storage.workspaceBytes = begin + plan.bytes;
    for (auto &[value, memory] : memoryOf)
      storage.places[value] = finalPlace(value, offsets);
    for (Operation &op : block.without_terminator())
      if (cast<CommandOpInterface>(op).isView())
        storage.places[op.getResult(0)] =
            finalPlace(base(op.getResult(0)), offsets);
    for (auto &[op, from, to] : copies)
      storage.copies.push_back(
          {op, finalPlace(from, offsets), finalPlace(to, offsets)});
    for (auto &[value, place] : finalCopies)
      if (!liesAt(value, place))
        storage.copies.push_back(
            {block.getTerminator(), finalPlace(value, offsets), place});
    for (auto &[result, value, copy] : outputs) {
      Place place = finalPlace(value, offsets);
      if (copy) {
        Place from = std::exchange(place, placeOf(*copy, offsets));
        storage.copies.push_back({block.getTerminator(), from, place});
      }
      storage.outputs[result] = place;
    }
    return storage;
  }

  struct PendingCopy {
    Operation *before;
    Value from, to;
  };
  struct Output {
    unsigned result;
    Value value;
    std::optional<unsigned> copy; ///< memory
  };

  const Program &program;
  Block &block;
  llvm::function_ref<Place(BindingAttr, bool)> bound;
  llvm::function_ref<Place(ConstantOp)> constants;
  unsigned workspace;
  int64_t begin; ///< of the temporaries in the workspace
  int64_t end = 0;
  llvm::DenseMap<Operation *, int64_t> positions;
  llvm::DenseMap<Value, int64_t> lastUse;
  std::vector<Memory> memories;
  llvm::DenseMap<Value, unsigned> memoryOf;
  /// Where results must end up; where values had best be.
  llvm::DenseMap<Value, Place> wanted, hints;
  std::vector<std::pair<Value, Place>> finalCopies;
  std::vector<PendingCopy> copies;
  std::vector<Output> outputs;
};

} // namespace

ProgramStorage
emit::planStorage(const Program &program,
                  llvm::function_ref<Place(BindingAttr, bool)> bound,
                  llvm::function_ref<Place(ConstantOp)> constants,
                  unsigned workspace, int64_t begin) {
  return StoragePlanner(program, bound, constants, workspace, begin).run();
}
