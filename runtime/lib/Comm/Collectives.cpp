//===- Collectives.cpp - Collectives over messages ------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums are made slice by slice: member i gets all contributions to slice i,
// adds them in ascending rank order, and gives the result to the others. Long
// buffers are cut into pieces, so the staging memory is bounded. Neither the
// slices nor the pieces change the order in which an element is added.
//
//===----------------------------------------------------------------------===//

#include "Operation.h"
#include <algorithm>
#include <cstring>
#include <utility>

using namespace smp;
using namespace smp::runtime;

/// Bytes of a buffer that are under way at a time.
static constexpr int64_t pieceBytes = 4 << 20;
/// Up to this size everyone gets everything: one round instead of two.
static constexpr int64_t directBytes = 4096;

template <typename T>
static void addElements(std::byte *sum, const std::byte *term, int64_t count) {
  auto *to = reinterpret_cast<T *>(sum);
  const auto *from = reinterpret_cast<const T *>(term);
  for (int64_t i = 0; i < count; ++i)
    to[i] += from[i];
}

/// Two's complement: a sum of integers wraps, as in generated code.
static void addIntegers(std::byte *sum, const std::byte *term, int64_t count) {
  addElements<uint64_t>(sum, term, count);
}

static void add(DataType type, std::byte *sum, const std::byte *term,
                int64_t count) {
  if (type == DataType::F32)
    addElements<float>(sum, term, count);
  else if (type == DataType::F64)
    addElements<double>(sum, term, count);
  else
    addIntegers(sum, term, count);
}

namespace {
class Collective : public Operation {
protected:
  Collective(const OperationMemory &memory, Group group, DataType type,
             void *buffer, int64_t count)
      : Operation(memory.blocks, size_t(group.size()) * 2),
        staging(memory.staging), group(std::move(group)), type(type),
        width(byteWidth(type)), buffer(static_cast<std::byte *>(buffer)),
        count(count) {}

  int size() const { return group.size(); }
  int self() const { return group.rank(); }
  int tag() const { return groupTag(group.id()); }
  int peer(int position) const { return group.globalRank(position); }
  Status sendTo(Wire &wire, int position, const std::byte *data,
                int64_t elements) {
    if (elements == 0)
      return {};
    return send(wire, peer(position), tag(), data, elements * width);
  }
  Status receiveFrom(Wire &wire, int position, std::byte *data,
                     int64_t elements) {
    if (elements == 0)
      return {};
    return receive(wire, peer(position), tag(), data, elements * width);
  }

  /// Posts the exchange after which this member has everyone's contribution
  /// to its own slice; `slice(i)` is where slice i stands and how long it is.
  template <typename Slice> Status exchange(Wire &wire, Slice slice) {
    auto [mine, elements] = slice(self());
    size_t bytes = static_cast<size_t>(size()) * elements * width;
    if (staging.size() < bytes)
      staging.resize(bytes);
    for (int i = 0; i < size(); ++i) {
      if (i == self())
        continue;
      auto [other, otherElements] = slice(i);
      SMP_RETURN_IF_ERROR(receiveFrom(wire, i, staged(i, elements), elements));
      SMP_RETURN_IF_ERROR(sendTo(wire, i, other, otherElements));
    }
    return {};
  }

  /// Adds the contributions in ascending rank order.
  void addContributions(std::byte *own, int64_t elements) {
    if (elements == 0)
      return;
    std::byte *sum = self() == 0 ? own : staged(0, elements);
    for (int i = 1; i < size(); ++i)
      add(type, sum, i == self() ? own : staged(i, elements), elements);
    if (sum != own)
      std::memcpy(own, sum, elements * width);
  }

  std::byte *staged(int position, int64_t elements) {
    return staging.data() + position * elements * width;
  }

  std::vector<std::byte> &staging;
  Group group;
  DataType type;
  int64_t width;
  std::byte *buffer;
  int64_t count;
};

class AllReduce : public Collective {
public:
  AllReduce(const OperationMemory &memory, const Group &group, DataType type,
            void *buffer, int64_t count)
      : Collective(memory, group, type, buffer, count) {}

private:
  struct Slice {
    std::byte *data;
    int64_t elements;
  };
  Slice slice(int position) const {
    auto bound = [&](int i) { return piece * i / size(); };
    return {buffer + (begin + bound(position)) * width,
            bound(position + 1) - bound(position)};
  }

  Result<bool> nextRound(Wire &wire) override {
    auto slices = [this](int i) {
      return direct ? Slice{buffer + begin * width, piece} : slice(i);
    };
    if (round == 0) { // contributions
      if (begin == count || size() == 1)
        return false;
      piece = std::min(count - begin, pieceBytes / width);
      direct = piece * width <= directBytes;
      SMP_RETURN_IF_ERROR(exchange(wire, slices));
      round = 1;
      return true;
    }
    if (round == 1) { // sums
      auto [mine, elements] = slices(self());
      addContributions(mine, elements);
      round = 2;
      for (int i = 0; i < size() && !direct; ++i) {
        if (i == self())
          continue;
        SMP_RETURN_IF_ERROR(
            receiveFrom(wire, i, slice(i).data, slice(i).elements));
        SMP_RETURN_IF_ERROR(sendTo(wire, i, mine, elements));
      }
      return true;
    }
    begin += piece;
    round = 0;
    return nextRound(wire);
  }

  int64_t begin = 0, piece = 0;
  int round = 0;
  bool direct = false;
};

class ReduceScatter : public Collective {
public:
  ReduceScatter(const OperationMemory &memory, const Group &group,
                DataType type, void *buffer, int64_t count)
      : Collective(memory, group, type, buffer, count) {}

private:
  Result<bool> nextRound(Wire &wire) override {
    auto slice = [this](int i) {
      return std::pair(buffer + (i * count + begin) * width, piece);
    };
    if (piece)
      addContributions(slice(self()).first, piece);
    begin += piece;
    if (begin == count || size() == 1)
      return false;
    piece = std::min(count - begin,
                     std::max<int64_t>(1, pieceBytes / width / size()));
    SMP_RETURN_IF_ERROR(exchange(wire, slice));
    return true;
  }

  int64_t begin = 0, piece = 0;
};

class AllGather : public Collective {
public:
  AllGather(const OperationMemory &memory, const Group &group, DataType type,
            void *buffer, int64_t count)
      : Collective(memory, group, type, buffer, count) {}

private:
  Result<bool> nextRound(Wire &wire) override {
    if (begin == count)
      return false;
    int64_t piece = std::min(count - begin, pieceBytes / width);
    auto slice = [this](int i) { return buffer + (i * count + begin) * width; };
    for (int i = 0; i < size(); ++i) {
      if (i == self())
        continue;
      SMP_RETURN_IF_ERROR(receiveFrom(wire, i, slice(i), piece));
      SMP_RETURN_IF_ERROR(sendTo(wire, i, slice(self()), piece));
    }
    begin += piece;
    return true;
  }

  int64_t begin = 0;
};

class Broadcast : public Collective {
public:
  Broadcast(const OperationMemory &memory, const Group &group, DataType type,
            void *buffer, int64_t count, int root)
      : Collective(memory, group, type, buffer, count), root(root) {}

private:
  Result<bool> nextRound(Wire &wire) override {
    if (begin == count)
      return false;
    int64_t piece = std::min(count - begin, pieceBytes / width);
    std::byte *data = buffer + begin * width;
    if (self() != root)
      SMP_RETURN_IF_ERROR(receiveFrom(wire, root, data, piece));
    for (int i = 0; i < size() && self() == root; ++i)
      if (i != root)
        SMP_RETURN_IF_ERROR(sendTo(wire, i, data, piece));
    begin += piece;
    return true;
  }

  int root;
  int64_t begin = 0;
};

/// Dissemination: after round r a member has heard, directly or not, of the
/// 2^r members before it.
class Barrier : public Collective {
public:
  Barrier(const OperationMemory &memory, const Group &group)
      : Collective(memory, group, DataType::U8, nullptr, 0) {}

private:
  Result<bool> nextRound(Wire &wire) override {
    if (distance >= size())
      return false;
    int to = (self() + distance) % size();
    int from = (self() + size() - distance) % size();
    SMP_RETURN_IF_ERROR(receive(wire, peer(from), tag(), nullptr, 0));
    SMP_RETURN_IF_ERROR(send(wire, peer(to), tag(), nullptr, 0));
    distance *= 2;
    return true;
  }

  int distance = 1;
};

template <typename Kind, typename... Arguments>
std::shared_ptr<Operation> make(const OperationMemory &memory,
                                Arguments... arguments) {
  return std::allocate_shared<Kind>(
      std::pmr::polymorphic_allocator<Kind>(&memory.blocks), memory,
      arguments...);
}
} // namespace

std::shared_ptr<Operation> runtime::makeAllReduce(const OperationMemory &memory,
                                                  const Group &group,
                                                  DataType type, void *buffer,
                                                  int64_t count) {
  return make<AllReduce>(memory, group, type, buffer, count);
}
std::shared_ptr<Operation>
runtime::makeReduceScatter(const OperationMemory &memory, const Group &group,
                           DataType type, void *buffer, int64_t count) {
  return make<ReduceScatter>(memory, group, type, buffer, count);
}
std::shared_ptr<Operation> runtime::makeAllGather(const OperationMemory &memory,
                                                  const Group &group,
                                                  DataType type, void *buffer,
                                                  int64_t count) {
  return make<AllGather>(memory, group, type, buffer, count);
}
std::shared_ptr<Operation> runtime::makeBroadcast(const OperationMemory &memory,
                                                  const Group &group,
                                                  DataType type, void *buffer,
                                                  int64_t count, int root) {
  return make<Broadcast>(memory, group, type, buffer, count, root);
}
std::shared_ptr<Operation> runtime::makeBarrier(const OperationMemory &memory,
                                                const Group &group) {
  return make<Barrier>(memory, group);
}
