//===- Meetings.h - Which actions meet across ranks -------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Transfers meet by their place in a channel, rank programs by their place in
// the list of each rank. Both halves of the checker need this.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_SCHEDULE_MEETINGS_H
#define SMP_LIB_SCHEDULE_MEETINGS_H

#include "smp/Schedule/Checker.h"

#include <algorithm>
#include <map>
#include <utility>

namespace smp::schedule {

/// The actions of all ranks under consecutive numbers.
class Meetings {
public:
  explicit Meetings(const std::vector<RankList> &lists) : lists(lists) {
    for (const RankList &list : lists) {
      base.push_back(count);
      count += static_cast<int>(list.actions.size());
    }
    std::map<Channel, std::vector<int>> sends, recvs;
    std::map<std::pair<Program, size_t>, std::vector<int>> barriers;
    for (size_t rank = 0; rank < lists.size(); ++rank) {
      std::map<Program, size_t> occurrence;
      for (size_t i = 0; i < lists[rank].actions.size(); ++i) {
        const Action &action = lists[rank].actions[i];
        int self = static_cast<int>(rank);
        int number = base[rank] + static_cast<int>(i);
        if (action.kind == ActionKind::Send)
          sends[{self, action.peer}].push_back(number);
        else if (action.kind == ActionKind::Recv)
          recvs[{action.peer, self}].push_back(number);
        else if (action.kind == ActionKind::Launch &&
                 isRankProgram(action.program))
          barriers[{action.program, occurrence[action.program]++}].push_back(
              number);
      }
    }
    met.resize(count);
    for (auto &[channel, list] : sends)
      for (size_t k = 0; k < list.size(); ++k)
        if (auto other = recvs.find(channel);
            other != recvs.end() && k < other->second.size()) {
          met[list[k]].push_back(other->second[k]);
          met[other->second[k]].push_back(list[k]);
        }
    for (auto &[program, list] : barriers)
      for (int a : list)
        for (int b : list)
          if (a != b)
            met[a].push_back(b);
  }

  int size() const { return count; }
  int number(ActionRef ref) const { return base[ref.rank] + ref.action; }
  int sizeOf(int rank) const {
    return static_cast<int>(lists[rank].actions.size());
  }
  ActionRef ref(int number) const {
    auto next = std::ranges::upper_bound(base, number);
    int rank = static_cast<int>(next - base.begin()) - 1;
    return {rank, number - base[rank]};
  }
  /// The other side of a transfer, or the same rank program elsewhere.
  const std::vector<int> &partners(int number) const { return met[number]; }

private:
  using Channel = std::pair<int, int>; ///< from rank, to rank

  const std::vector<RankList> &lists;
  std::vector<int> base;
  int count = 0;
  std::vector<std::vector<int>> met;
};

} // namespace smp::schedule

#endif // SMP_LIB_SCHEDULE_MEETINGS_H
