//===- Waits.cpp - Which command waits for which --------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Memory/Waits.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

namespace smp::memory {

namespace {

/// For every byte of one space the last command that wrote it and those that
/// have read it since, kept as disjoint segments with equal contents.
class ByteHistory {
public:
  /// Calls `visit(command, writes, begin, end)` for every earlier access that
  /// an access of [begin, end) conflicts with directly, then records it. What
  /// lies further back is ordered by way of those.
  template <typename Visit>
  void read(int command, int64_t begin, int64_t end, Visit visit) {
    forEachSegment(begin, end, [&](int64_t from, int64_t to, Segment &segment) {
      if (segment.writer >= 0)
        visit(segment.writer, true, from, to);
      if (segment.readers.empty() || segment.readers.back() != command)
        segment.readers.push_back(command);
    });
  }
  template <typename Visit>
  void write(int command, int64_t begin, int64_t end, Visit visit) {
    forEachSegment(begin, end, [&](int64_t from, int64_t to, Segment &segment) {
      for (int reader : segment.readers)
        visit(reader, false, from, to);
      if (segment.writer >= 0)
        visit(segment.writer, true, from, to);
    });
    if (begin >= end)
      return;
    // One segment from now on: the past of its parts is the same.
    segments.erase(segments.find(begin), segments.lower_bound(end));
    segments[begin] = {end, command, {}};
  }

private:
  struct Segment {
    int64_t end = 0;
    int writer = -1;
    std::vector<int> readers;
  };
  using Map = std::map<int64_t, Segment>;

  /// Makes `at` a border if it lies inside a segment.
  void split(int64_t at) {
    auto after = segments.upper_bound(at);
    if (after == segments.begin())
      return;
    auto segment = std::prev(after);
    if (segment->first == at || segment->second.end <= at)
      return;
    Segment tail = segment->second;
    segment->second.end = at;
    segments.emplace_hint(after, at, std::move(tail));
  }

  template <typename Function>
  void forEachSegment(int64_t begin, int64_t end, Function function) {
    if (begin >= end)
      return;
    split(begin);
    split(end);
    for (int64_t at = begin; at < end;) {
      auto segment = segments.lower_bound(at);
      if (segment == segments.end() || segment->first > at) {
        int64_t gap =
            segment == segments.end() ? end : std::min(end, segment->first);
        segment = segments.emplace_hint(segment, at, Segment{gap, -1, {}});
      }
      function(at, segment->second.end, segment->second);
      at = segment->second.end;
    }
  }

  Map segments;
};

/// Walks the commands and calls `visit(earlier, later, range, earlierWrites,
/// laterWrites)` for the direct conflicts, those that imply all others. The
/// visitor returns false to stop.
template <typename Visit>
void forEachConflict(std::span<const CommandAccess> commands, Visit visit) {
  std::map<int, ByteHistory> spaces;
  bool more = true;
  for (int command = 0; more && command < static_cast<int>(commands.size());
       ++command) {
    auto access = [&](const ByteRange &range, bool writes) {
      auto conflict = [&](int earlier, bool earlierWrites, int64_t from,
                          int64_t to) {
        if (more && earlier != command)
          more = visit(earlier, command, ByteRange{range.space, from, to},
                       earlierWrites, writes);
      };
      ByteHistory &history = spaces[range.space];
      if (writes)
        history.write(command, range.begin, range.end, conflict);
      else
        history.read(command, range.begin, range.end, conflict);
    };
    for (const ByteRange &range : commands[command].reads)
      access(range, /*writes=*/false);
    for (const ByteRange &range : commands[command].writes)
      access(range, /*writes=*/true);
  }
}

/// Answers which commands come before one command by any chain of waits. Only
/// commands from `oldest` on are looked at, so that short waits stay cheap.
class Ancestors {
public:
  explicit Ancestors(const Waits &waits)
      : waits(waits), stamp(waits.size(), 0) {}

  /// Starts a new set, which ends at `oldest`.
  void reset(int oldestCommand) {
    ++epoch;
    oldest = oldestCommand;
  }
  /// Adds `command` and everything before it.
  void add(int command) {
    if (command < oldest || stamp[command] == epoch)
      return;
    stamp[command] = epoch;
    pending.push_back(command);
    while (!pending.empty()) {
      int next = pending.back();
      pending.pop_back();
      for (int before : waits[next])
        if (before >= oldest && stamp[before] != epoch) {
          stamp[before] = epoch;
          pending.push_back(before);
        }
    }
  }
  bool contains(int command) const { return stamp[command] == epoch; }

private:
  const Waits &waits;
  std::vector<int> stamp;
  std::vector<int> pending;
  int epoch = 0;
  int oldest = 0;
};

} // namespace

static void sortUnique(std::vector<int> &ids) {
  std::ranges::sort(ids);
  auto repeated = std::ranges::unique(ids);
  ids.erase(repeated.begin(), repeated.end());
}

Waits reduceWaits(const Waits &waits) {
  Waits reduced(waits.size());
  Ancestors implied(reduced);
  for (size_t command = 0; command < waits.size(); ++command) {
    std::vector<int> candidates = waits[command];
    sortUnique(candidates);
    if (candidates.empty())
      continue;
    // From the latest on: what an earlier candidate implies is earlier still.
    implied.reset(candidates.front());
    std::vector<int> kept;
    for (size_t i = candidates.size(); i-- > 0;) {
      if (implied.contains(candidates[i]))
        continue;
      kept.push_back(candidates[i]);
      implied.add(candidates[i]);
    }
    reduced[command].assign(kept.rbegin(), kept.rend());
  }
  return reduced;
}

Waits planWaits(std::span<const CommandAccess> commands) {
  Waits waits(commands.size());
  for (size_t command = 0; command < commands.size(); ++command)
    waits[command] = commands[command].after;
  forEachConflict(commands,
                  [&](int earlier, int later, const ByteRange &, bool, bool) {
                    waits[later].push_back(earlier);
                    return true;
                  });
  return reduceWaits(waits);
}

std::optional<Conflict> findConflict(std::span<const CommandAccess> commands,
                                     const Waits &waits) {
  std::vector<std::vector<Conflict>> conflicts(commands.size());
  forEachConflict(commands, [&](int earlier, int later, const ByteRange &range,
                                bool earlierWrites, bool laterWrites) {
    conflicts[later].push_back(
        {earlier, later, range, earlierWrites, laterWrites});
    return true;
  });
  Ancestors before(waits);
  for (const std::vector<Conflict> &list : conflicts) {
    if (list.empty())
      continue;
    int oldest = list.front().first;
    for (const Conflict &conflict : list)
      oldest = std::min(oldest, conflict.first);
    before.reset(oldest);
    for (int wait : waits[list.front().second])
      before.add(wait);
    for (const Conflict &conflict : list)
      if (!before.contains(conflict.first))
        return conflict;
  }
  return std::nullopt;
}

std::string Conflict::str() const {
  auto verb = [](bool writes) { return writes ? " writes" : " reads"; };
  return "command " + std::to_string(first) + verb(firstWrites) + " bytes [" +
         std::to_string(range.begin) + ", " + std::to_string(range.end) +
         ") of space " + std::to_string(range.space) + " that command " +
         std::to_string(second) + verb(secondWrites) +
         ", and nothing orders them";
}

} // namespace smp::memory
