//===- OrderOracle.h - Unordered accesses by brute force --------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The question of JobChecker.h answered with nothing of its code: every command
// of every action of a schedule is a node of one graph, the graph is closed by
// plain search from each node, and each two nodes are compared byte range by
// byte range. It knows no shortcuts (programs launched twice, last writers,
// launches that exclude each other), so it judges the checker's.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_TEST_FIXTURES_ORDERORACLE_H
#define SMP_RUNTIME_TEST_FIXTURES_ORDERORACLE_H

#include "smp/runtime/Job/Job.h"

#include <compare>
#include <set>
#include <utility>

namespace smp::runtime::test {

class OrderOracle {
public:
  /// A command of a launch, or a transfer or load as a whole (command -1).
  struct Point {
    unsigned action = 0;
    int command = -1;
    auto operator<=>(const Point &) const = default;
  };
  using Pair = std::pair<Point, Point>; ///< in list order

  /// Keeps references. Waits may change between questions, accesses may not.
  OrderOracle(const Job &job, const RankJob &rank, const Schedule &schedule);

  /// All pairs of points that touch a common byte, one of them writing, and
  /// that the waits and queues of now leave in no order.
  std::set<Pair> unordered() const;

  /// Whether both points of a pair touch all of [begin, end) of an arena, one
  /// of them writing.
  bool bothTouch(const Pair &pair, unsigned arena, int64_t begin,
                 int64_t end) const;

private:
  struct Touch {
    unsigned arena;
    int64_t begin, end;
    bool write;
  };
  struct Node {
    Point point;
    std::vector<Touch> touches; ///< none of the begin and the end of an action
  };
  using Edges = std::vector<std::vector<size_t>>;

  void addAction(unsigned action);
  size_t addNode(Point point);
  void addTouch(size_t node, const Operand &operand, int64_t slot, bool write);
  Edges edges() const;
  void orderCommands(unsigned action, Edges &edges) const;
  size_t beginOf(unsigned action) const { return firstNode[action]; }
  size_t endOf(unsigned action) const { return firstNode[action + 1] - 1; }

  const Job &job;
  const RankJob &rank;
  const Schedule &schedule;
  std::vector<Node> nodes; ///< of an action: its begin, its work, its end
  std::vector<size_t> firstNode;
  std::vector<std::pair<size_t, size_t>> conflicting;
};

} // namespace smp::runtime::test

#endif // SMP_RUNTIME_TEST_FIXTURES_ORDERORACLE_H
