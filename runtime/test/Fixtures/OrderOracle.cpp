//===- OrderOracle.cpp - Unordered accesses by brute force ----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OrderOracle.h"

#include <algorithm>

using namespace smp::runtime;
using namespace smp::runtime::test;

OrderOracle::OrderOracle(const Job &job, const RankJob &rank,
                         const Schedule &schedule)
    : job(job), rank(rank), schedule(schedule) {
  for (unsigned action = 0; action < schedule.actions.size(); ++action)
    addAction(action);
  firstNode.push_back(nodes.size());
  auto overlap = [](const Touch &x, const Touch &y) {
    return x.arena == y.arena && (x.write || y.write) && x.begin < y.end &&
           y.begin < x.end;
  };
  for (size_t i = 0; i < nodes.size(); ++i)
    for (size_t j = i + 1; j < nodes.size(); ++j)
      if (std::ranges::any_of(nodes[i].touches, [&](const Touch &x) {
            return std::ranges::any_of(nodes[j].touches, [&](const Touch &y) {
              return overlap(x, y);
            });
          }))
        conflicting.emplace_back(i, j);
}

size_t OrderOracle::addNode(Point point) {
  nodes.push_back({point, {}});
  return nodes.size() - 1;
}

void OrderOracle::addTouch(size_t node, const Operand &operand, int64_t slot,
                           bool write) {
  int64_t begin = operand.offset;
  if (operand.slotted)
    begin += slot * job.ranks[rank.rank].arenas[operand.arena].stride;
  nodes[node].touches.push_back(
      {operand.arena, begin, begin + operand.bytes, write});
}

void OrderOracle::addAction(unsigned action) {
  firstNode.push_back(nodes.size());
  addNode({action, -1});
  const auto &work = schedule.actions[action].work;
  if (auto *launch = std::get_if<LaunchAction>(&work)) {
    int index = 0;
    auto slot = [&](const Operand &operand) {
      return operand.slotted ? launch->slots.at(operand.arena) : 0;
    };
    for (const Command &command : rank.programs[launch->program].commands) {
      size_t node = addNode({action, index++});
      for (const Operand &operand : command.reads)
        addTouch(node, operand, slot(operand), false);
      for (const Operand &operand : command.writes)
        addTouch(node, operand, slot(operand), true);
    }
  } else if (auto *transfer = std::get_if<TransferAction>(&work)) {
    addTouch(addNode({action, -1}), transfer->buffer, transfer->slot,
             !transfer->send);
  } else {
    const auto &load = std::get<LoadAction>(work);
    int64_t stride = job.ranks[rank.rank].arenas[load.arena].stride;
    addTouch(addNode({action, -1}), {load.arena, 0, stride, true}, load.slot,
             true);
  }
  addNode({action, -1});
}

static bool sameQueue(const Action &a, const Action &b) {
  if (std::holds_alternative<LaunchAction>(a.work))
    return std::holds_alternative<LaunchAction>(b.work);
  auto *left = std::get_if<TransferAction>(&a.work);
  auto *right = std::get_if<TransferAction>(&b.work);
  return left && right && left->peer == right->peer &&
         left->send == right->send;
}

/// The order inside one launch: waits, and collectives of one group.
void OrderOracle::orderCommands(unsigned action, Edges &edges) const {
  auto *launch = std::get_if<LaunchAction>(&schedule.actions[action].work);
  if (!launch)
    return;
  const auto &commands = rank.programs[launch->program].commands;
  size_t first = beginOf(action) + 1;
  for (size_t i = 0; i < commands.size(); ++i) {
    for (unsigned wait : commands[i].waits)
      edges[first + wait].push_back(first + i);
    if (commands[i].queue.kind != Queue::Group)
      continue;
    for (size_t j = 0; j < i; ++j)
      if (commands[j].queue.kind == Queue::Group &&
          commands[j].queue.group == commands[i].queue.group)
        edges[first + j].push_back(first + i);
  }
}

OrderOracle::Edges OrderOracle::edges() const {
  Edges edges(nodes.size());
  for (unsigned i = 0; i < schedule.actions.size(); ++i) {
    for (size_t node = beginOf(i) + 1; node < endOf(i); ++node) {
      edges[beginOf(i)].push_back(node);
      edges[node].push_back(endOf(i));
    }
    edges[beginOf(i)].push_back(endOf(i));
    for (unsigned wait : schedule.actions[i].waits)
      edges[endOf(wait)].push_back(beginOf(i));
    for (unsigned j = 0; j < i; ++j)
      if (sameQueue(schedule.actions[j], schedule.actions[i]))
        edges[endOf(j)].push_back(beginOf(i));
    orderCommands(i, edges);
  }
  return edges;
}

std::set<OrderOracle::Pair> OrderOracle::unordered() const {
  Edges next = edges();
  std::vector<std::vector<bool>> after(nodes.size(),
                                       std::vector<bool>(nodes.size()));
  std::vector<size_t> pending;
  for (size_t start = 0; start < nodes.size(); ++start) {
    pending.push_back(start);
    while (!pending.empty()) {
      size_t node = pending.back();
      pending.pop_back();
      for (size_t successor : next[node])
        if (!after[start][successor]) {
          after[start][successor] = true;
          pending.push_back(successor);
        }
    }
  }
  std::set<Pair> found;
  for (auto [i, j] : conflicting)
    if (!after[i][j] && !after[j][i])
      found.insert({nodes[i].point, nodes[j].point});
  return found;
}

bool OrderOracle::bothTouch(const Pair &pair, unsigned arena, int64_t begin,
                            int64_t end) const {
  auto touches = [&](const Point &point, bool write) {
    return std::ranges::any_of(nodes, [&](const Node &node) {
      return node.point == point &&
             std::ranges::any_of(node.touches, [&](const Touch &touch) {
               return touch.arena == arena && touch.begin <= begin &&
                      end <= touch.end && (!write || touch.write);
             });
    });
  };
  return begin < end && touches(pair.first, false) &&
         touches(pair.second, false) &&
         (touches(pair.first, true) || touches(pair.second, true));
}
