//===- Clusters.cpp - Ops that one kernel computes -------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops fall into four kinds. *Moves* only say where elements come from: they are
// cloned into every cluster that reads them. Other *pointwise* ops join the
// cluster of their producers when shapes agree and no path leaves the cluster
// and comes back. *Kernel* ops have a cluster each, with the pointwise ops that
// only they read. The rest (products, collectives) stays outside. What is fused
// never changes a bit, so the choice is free.
//
//===----------------------------------------------------------------------===//

#include "smp/Codegen/KernelEmitter.h"
#include "smp/Lowering/Lowering.h"
#include "smp/Lowering/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <set>

using namespace mlir;
using namespace smp;
using codegen::KernelOpInterface;
using codegen::PointwiseOpInterface;

namespace smp {
#define GEN_PASS_DEF_CLUSTERPASS
#include "smp/Lowering/Passes.h.inc"
} // namespace smp

namespace {

/// A constant whose elements lie in memory.
bool isMemory(Operation *op) {
  auto constant = dyn_cast<ConstantOp>(op);
  return constant && !isa<SplatElementsAttr>(constant.getValue());
}
bool isMove(Operation *op) {
  auto pointwise = dyn_cast<PointwiseOpInterface>(op);
  return pointwise && pointwise.isMove() && !isMemory(op);
}
bool isPointwise(Operation *op) {
  return isa<PointwiseOpInterface>(op) && !isMemory(op);
}
bool isCode(Operation *op) {
  return isPointwise(op) || isa<KernelOpInterface>(op);
}

/// A list that stays valid while ops are erased.
SmallVector<Operation *> operationsOf(Block &block) {
  SmallVector<Operation *> result;
  for (Operation &op : block.without_terminator())
    result.push_back(&op);
  return result;
}

ArrayRef<int64_t> shapeOf(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType()).getShape();
}

class ClusterFormation {
public:
  ClusterFormation(func::FuncOp program, bool fuse)
      : block(program.getBody().front()), fuse(fuse) {}

  void run() {
    for (Operation &op : block.without_terminator())
      index[&op] = index.size();
    findRoots();
    for (Operation &op : block.without_terminator())
      if (isa<KernelOpInterface>(op))
        startKernel(&op);
    for (Operation &op : block.without_terminator())
      if (isPointwise(&op) && !clusterOf.count(&op) &&
          (!isMove(&op) || roots.contains(&op)))
        join(&op);
    cloneMoves();
    outline();
  }

private:
  using Members = llvm::SetVector<Operation *>;

  /// Moves whose results must lie in memory, because something else than a
  /// kernel reads them. Reshapes are no work then: the same memory.
  void findRoots() {
    for (Operation &op : llvm::reverse(block.without_terminator())) {
      if (!isMove(&op))
        continue;
      bool inMemory = llvm::any_of(op.getUsers(), [&](Operation *user) {
        return !isCode(user) || views.contains(user);
      });
      if (!inMemory)
        continue;
      if (isa<ReshapeOp>(op))
        views.insert(&op);
      else
        roots.insert(&op);
    }
  }

  void assign(Operation *op, unsigned cluster) {
    clusterOf[op] = cluster;
    clusters[cluster].insert(op);
  }

  /// A kernel op and the ops that feed only it, where each element is read
  /// once.
  void startKernel(Operation *op) {
    unsigned cluster = clusters.size();
    clusters.emplace_back();
    assign(op, cluster);
    auto kernel = cast<KernelOpInterface>(op);
    if (!fuse)
      return;
    for (OpOperand &operand : op->getOpOperands())
      if (kernel.getReads(operand.getOperandNumber()) == 1)
        absorb(operand.get(), cluster);
  }

  void absorb(Value value, unsigned cluster) {
    Operation *op = value.getDefiningOp();
    if (!op || !isPointwise(op) || isMove(op) || !op->hasOneUse() ||
        op->getNumResults() != 1)
      return;
    assign(op, cluster);
    for (Value operand : op->getOperands())
      absorb(operand, cluster);
  }

  /// Joins a pointwise op with the clusters of its producers where possible.
  void join(Operation *op) {
    unsigned cluster = clusters.size();
    clusters.emplace_back();
    assign(op, cluster);
    if (isMove(op) || !fuse)
      return;
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!producer || !isPointwise(producer) || isMove(producer))
        continue;
      auto found = clusterOf.find(producer);
      if (found == clusterOf.end() || found->second == cluster ||
          !isElementwise(found->second) || shapeOf(producer) != shapeOf(op))
        continue;
      unsigned target = found->second;
      if (leavesAndReturns(target, cluster))
        continue;
      for (Operation *member : clusters[cluster])
        assign(member, target);
      clusters[cluster].clear();
      cluster = target;
    }
  }

  bool isElementwise(unsigned cluster) {
    return llvm::none_of(clusters[cluster], [](Operation *op) {
      return isa<KernelOpInterface>(op) || isMove(op);
    });
  }

  /// Whether a path from a member of one of two clusters to another member
  /// passes something outside: the merged cluster would wait for itself.
  bool leavesAndReturns(unsigned a, unsigned b) {
    auto isMember = [&](Operation *op) {
      auto found = clusterOf.find(op);
      return found != clusterOf.end() &&
             (found->second == a || found->second == b);
    };
    size_t earliest = index.size();
    SmallVector<Operation *> pending;
    llvm::DenseSet<Operation *> visited;
    auto push = [&](Operation *op, bool fromMember) {
      for (Value operand : op->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        if (!producer || (fromMember && isMember(producer)))
          continue;
        // A move is cloned into the cluster, so it does not leave it.
        if (fromMember && isMove(producer) && !roots.contains(producer)) {
          pendingMoves.push_back(producer);
          continue;
        }
        if (visited.insert(producer).second)
          pending.push_back(producer);
      }
    };
    for (unsigned cluster : {a, b})
      for (Operation *member : clusters[cluster]) {
        earliest = std::min(earliest, index[member]);
        push(member, true);
        while (!pendingMoves.empty())
          push(pendingMoves.pop_back_val(), true);
      }
    while (!pending.empty()) {
      Operation *op = pending.pop_back_val();
      if (isMember(op))
        return true;
      // Everything that the rest of a cluster reads must be there before it.
      if (auto found = clusterOf.find(op); found != clusterOf.end())
        for (Operation *member : clusters[found->second])
          if (visited.insert(member).second)
            pending.push_back(member);
      if (index[op] > earliest || clusterOf.count(op))
        push(op, false);
    }
    return false;
  }

  //===--- Moves
  //-----------------------------------------------------------===//

  void cloneMoves() {
    for (auto [cluster, members] : llvm::enumerate(clusters)) {
      clones.clear();
      SmallVector<Operation *> ordered(members.begin(), members.end());
      llvm::sort(ordered, [&](auto a, auto b) { return index[a] < index[b]; });
      for (Operation *member : ordered)
        for (OpOperand &operand : member->getOpOperands())
          operand.set(cloned(operand.get(), member, cluster));
    }
    SmallVector<Operation *> operations = operationsOf(block);
    for (Operation *op : llvm::reverse(operations))
      if (isOpTriviallyDead(op) && isMove(op) && !clusterOf.count(op))
        op->erase();
  }

  Value cloned(Value value, Operation *before, unsigned cluster) {
    Operation *op = value.getDefiningOp();
    if (!op || !isMove(op) || (clusterOf.count(op) && op->getNumOperands()) ||
        (roots.contains(op) && op->getNumOperands()))
      return value;
    Operation *&clone = clones[op];
    if (!clone) {
      OpBuilder builder(before);
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(cloned(operand, before, cluster));
      clone = builder.clone(*op);
      clone->setOperands(operands);
      index[clone] = index[before];
      assign(clone, cluster);
    }
    return clone->getResult(0);
  }

  //===--- Outlining
  //--------------------------------------------------------===//

  /// The units (clusters and single ops) in an order that respects values, each
  /// as soon as the last of its ops would have come.
  std::vector<SmallVector<Operation *>> orderUnits() {
    llvm::MapVector<int64_t, SmallVector<Operation *>> units;
    DenseMap<Operation *, int64_t> unitOf;
    int64_t single = clusters.size();
    for (Operation &op : block.without_terminator()) {
      auto found = clusterOf.find(&op);
      int64_t unit =
          found == clusterOf.end() ? single++ : int64_t{found->second};
      units[unit].push_back(&op);
      unitOf[&op] = unit;
    }
    DenseMap<int64_t, std::set<int64_t>> users;
    DenseMap<int64_t, unsigned> missing, position;
    unsigned place = 0;
    for (Operation &op : block.without_terminator()) {
      int64_t unit = unitOf[&op];
      position[unit] = place++;
      for (Value operand : op.getOperands())
        if (Operation *producer = operand.getDefiningOp();
            producer && unitOf[producer] != unit &&
            users[unitOf[producer]].insert(unit).second)
          ++missing[unit];
    }
    std::set<std::pair<unsigned, int64_t>> ready;
    for (auto &[unit, ops] : units)
      if (!missing.lookup(unit))
        ready.insert({position[unit], unit});
    std::vector<SmallVector<Operation *>> order;
    while (!ready.empty()) {
      int64_t unit = ready.begin()->second;
      ready.erase(ready.begin());
      order.push_back(units[unit]);
      for (int64_t user : users[unit])
        if (--missing[user] == 0)
          ready.insert({position[user], user});
    }
    assert(order.size() == units.size() && "clusters wait for each other");
    return order;
  }

  void outline() {
    Operation *end = block.getTerminator();
    for (const SmallVector<Operation *> &unit : orderUnits())
      if (clusterOf.count(unit.front()))
        makeCluster(unit, end);
      else
        unit.front()->moveBefore(end);
  }

  void makeCluster(ArrayRef<Operation *> members, Operation *before) {
    llvm::SetVector<Value> operands, results;
    llvm::SmallPtrSet<Operation *, 8> inside(members.begin(), members.end());
    for (Operation *op : members) {
      for (Value operand : op->getOperands())
        if (!operand.getDefiningOp() || !inside.count(operand.getDefiningOp()))
          operands.insert(operand);
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(),
                         [&](Operation *user) { return !inside.count(user); }))
          results.insert(result);
    }
    if (results.empty())
      return;
    OpBuilder builder(before);
    SmallVector<Location> locations;
    for (Operation *op : members)
      locations.push_back(op->getLoc());
    auto cluster = ClusterOp::create(
        builder, locations.back(), TypeRange(ValueRange(results.getArrayRef())),
        operands.getArrayRef(), SmallVector<int64_t>(results.size(), -1));
    Block *body = builder.createBlock(&cluster.getBody());
    IRMapping mapping;
    for (Value operand : operands)
      mapping.map(operand,
                  body->addArgument(operand.getType(), operand.getLoc()));
    for (Operation *op : members)
      builder.clone(*op, mapping);
    SmallVector<Value> yielded;
    for (Value result : results)
      yielded.push_back(mapping.lookup(result));
    YieldOp::create(builder, cluster.getLoc(), yielded);
    for (auto [i, replacement] : llvm::enumerate(cluster.getResults()))
      Value(results[i]).replaceUsesWithIf(replacement, [&](OpOperand &use) {
        return !inside.count(use.getOwner());
      });
    for (Operation *op : llvm::reverse(members))
      op->erase();
  }

  Block &block;
  bool fuse;
  DenseMap<Operation *, size_t> index;
  llvm::SmallPtrSet<Operation *, 8> roots, views;
  std::vector<Members> clusters;
  DenseMap<Operation *, unsigned> clusterOf;
  DenseMap<Operation *, Operation *> clones;
  SmallVector<Operation *> pendingMoves;
};

} // namespace

/// Results that nothing reads, such as gradients that no one asked for.
static void eraseDeadOps(func::FuncOp program) {
  SmallVector<Operation *> operations = operationsOf(program.getBody().front());
  for (Operation *op : llvm::reverse(operations))
    if (isOpTriviallyDead(op))
      op->erase();
}

void smp::formClusters(func::FuncOp program, bool fuse) {
  eraseDeadOps(program);
  ClusterFormation(program, fuse).run();
  eraseDeadOps(program);
}

namespace {
struct ClusterPass : smp::impl::ClusterPassBase<ClusterPass> {
  void runOnOperation() override { formClusters(getOperation()); }
};
} // namespace
