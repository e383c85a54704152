//===- ArenaPlan.cpp - Offsets of buffers in one arena --------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Memory/ArenaPlan.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace smp::memory {

namespace {

/// A buffer with its rounded size.
struct Block {
  int64_t bytes = 0;
  int64_t first = 0, last = 0;
};

bool overlapInTime(const Block &a, const Block &b) {
  return a.first <= b.last && b.first <= a.last;
}

/// Places blocks in the given order, each into the smallest gap that holds it
/// among those already placed that are live at the same time.
class Placer {
public:
  explicit Placer(const std::vector<Block> &blocks) : blocks(blocks) {
    neighbours.resize(blocks.size());
    std::vector<int> byFirst(blocks.size());
    std::iota(byFirst.begin(), byFirst.end(), 0);
    std::ranges::sort(byFirst, [&](int a, int b) {
      return blocks[a].first != blocks[b].first
                 ? blocks[a].first < blocks[b].first
                 : a < b;
    });
    std::vector<int> live;
    for (int block : byFirst) {
      std::erase_if(live, [&](int other) {
        return !overlapInTime(blocks[other], blocks[block]);
      });
      for (int other : live) {
        neighbours[block].push_back(other);
        neighbours[other].push_back(block);
      }
      if (blocks[block].bytes > 0)
        live.push_back(block);
    }
  }

  /// Fills `offsets`, returns the size.
  int64_t place(const std::vector<int> &order, std::vector<int64_t> &offsets) {
    offsets.assign(blocks.size(), -1);
    int64_t size = 0;
    for (int block : order) {
      offsets[block] = bestGap(block, offsets);
      size = std::max(size, offsets[block] + blocks[block].bytes);
    }
    return size;
  }

  /// Number of pairs that are live at the same time.
  size_t conflicts() const {
    size_t sum = 0;
    for (const std::vector<int> &list : neighbours)
      sum += list.size();
    return sum / 2;
  }

private:
  int64_t bestGap(int block, const std::vector<int64_t> &offsets) {
    taken.clear();
    for (int other : neighbours[block])
      if (offsets[other] >= 0)
        taken.emplace_back(offsets[other],
                           offsets[other] + blocks[other].bytes);
    std::ranges::sort(taken);
    int64_t bytes = blocks[block].bytes;
    int64_t best = -1, bestSize = 0, end = 0;
    for (auto [from, to] : taken) {
      int64_t gap = from - end;
      if (gap >= bytes && (best < 0 || gap < bestSize)) {
        best = end;
        bestSize = gap;
      }
      end = std::max(end, to);
    }
    return best >= 0 ? best : end;
  }

  const std::vector<Block> &blocks;
  std::vector<std::vector<int>> neighbours;
  std::vector<std::pair<int64_t, int64_t>> taken;
};

/// The most bytes live at one command.
int64_t maxLive(const std::vector<Block> &blocks) {
  std::vector<std::pair<int64_t, int64_t>> events; // time, bytes
  for (const Block &block : blocks) {
    events.emplace_back(block.first, block.bytes);
    events.emplace_back(block.last + 1, -block.bytes);
  }
  std::ranges::sort(events);
  int64_t live = 0, most = 0;
  for (auto [time, bytes] : events)
    most = std::max(most, live += bytes);
  return most;
}

template <typename Key>
std::vector<int> orderBy(const std::vector<Block> &blocks, Key key) {
  std::vector<int> order(blocks.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    auto left = key(blocks[a]), right = key(blocks[b]);
    return left != right ? left < right : a < b;
  });
  return order;
}

/// Starting orders: by size (what large blocks leave, small ones fill), by area
/// in bytes times commands, by first write (a program read as a stack).
std::vector<std::vector<int>> startingOrders(const std::vector<Block> &blocks) {
  auto length = [](const Block &b) { return b.last - b.first + 1; };
  return {
      orderBy(blocks,
              [&](const Block &b) { return std::pair(-b.bytes, -length(b)); }),
      orderBy(blocks,
              [&](const Block &b) {
                return std::pair(-static_cast<double>(b.bytes) *
                                     static_cast<double>(length(b)),
                                 -b.bytes);
              }),
      orderBy(blocks,
              [&](const Block &b) { return std::pair(-length(b), -b.bytes); }),
      orderBy(blocks,
              [&](const Block &b) { return std::pair(b.first, -b.bytes); })};
}

/// Moves the blocks that reach the top of the arena to the front, in order.
std::vector<int> moveTopFirst(const std::vector<Block> &blocks,
                              const std::vector<int> &order,
                              const std::vector<int64_t> &offsets,
                              int64_t size) {
  std::vector<int> moved, rest;
  for (int block : order)
    (offsets[block] + blocks[block].bytes == size ? moved : rest)
        .push_back(block);
  moved.insert(moved.end(), rest.begin(), rest.end());
  return moved;
}

} // namespace

ArenaPlan planArena(std::span<const LiveBuffer> buffers, int64_t alignment) {
  std::vector<Block> blocks;
  for (const LiveBuffer &buffer : buffers)
    blocks.push_back({alignUp(std::max<int64_t>(buffer.bytes, 0), alignment),
                      buffer.first, std::max(buffer.first, buffer.last)});
  ArenaPlan plan;
  plan.lowerBound = maxLive(blocks);
  Placer placer(blocks);

  std::vector<int> bestOrder;
  std::vector<int64_t> offsets;
  auto attempt = [&](const std::vector<int> &order) {
    int64_t size = placer.place(order, offsets);
    if (bestOrder.empty() || size < plan.bytes) {
      plan.bytes = size;
      plan.offsets = offsets;
      bestOrder = order;
    }
    return size;
  };
  for (const std::vector<int> &order : startingOrders(blocks)) {
    if (!bestOrder.empty() && plan.bytes == plan.lowerBound)
      break;
    attempt(order);
  }
  // A bounded amount of work, counted, not timed: same input, same plan.
  size_t budget = 20'000'000 / (placer.conflicts() + blocks.size() + 1);
  std::vector<int> order = bestOrder;
  std::vector<int64_t> at = plan.offsets;
  int64_t size = plan.bytes;
  for (size_t round = 0;
       round < std::min<size_t>(budget, 200) && plan.bytes > plan.lowerBound;
       ++round) {
    order = moveTopFirst(blocks, order, at, size);
    size = attempt(order);
    at = offsets;
  }
  return plan;
}

} // namespace smp::memory
