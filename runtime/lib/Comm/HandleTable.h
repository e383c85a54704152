//===- HandleTable.h - Posted messages by handle ----------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to comm. The table has its memory from the start and uses it again:
// a step asks for none. A handle has an index below and a number above that
// changes with each use of the place, so a spent one is told apart.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_LIB_COMM_HANDLETABLE_H
#define SMP_RUNTIME_LIB_COMM_HANDLETABLE_H

#include "smp/runtime/Comm/Wire.h"
#include <deque>
#include <vector>

namespace smp::runtime {

template <typename T> class HandleTable {
public:
  /// For a world of `ranks`. A collective posts at most two messages a peer,
  /// and few groups and transfers are under way at a time; more than there is
  /// room for are no error, they ask for memory.
  explicit HandleTable(int ranks) {
    size_t room = size_t(ranks) * 8 + 64;
    unused.reserve(room);
    for (size_t i = 0; i < room; ++i)
      unused.push_back(&places.emplace_back(uint32_t(i)));
  }

  struct Taken {
    Wire::Handle handle;
    T &value; ///< as it was left; it does not move
  };
  Taken take() {
    if (unused.empty())
      unused.push_back(&places.emplace_back(uint32_t(places.size())));
    Place &place = *unused.back();
    unused.pop_back();
    place.inUse = true;
    return {place.handle(), place.value};
  }

  /// Null for a spent handle.
  T *find(Wire::Handle handle) {
    size_t index = handle & 0xFFFFFFFF;
    if (index >= places.size() || places[index].handle() != handle)
      return nullptr;
    return &places[index].value;
  }

  /// Spends a handle that is in the table.
  void erase(Wire::Handle handle) {
    Place &place = places[handle & 0xFFFFFFFF];
    ++place.use;
    place.inUse = false;
    unused.push_back(&place);
  }

  /// Spends all handles, after a last look at what they stand for.
  template <typename Function> void eraseAll(Function function) {
    for (Place &place : places)
      if (place.inUse) {
        function(place.value);
        erase(place.handle());
      }
  }

private:
  struct Place {
    explicit Place(uint32_t index) : index(index) {}
    Wire::Handle handle() const { return Wire::Handle{use} << 32 | index; }
    uint32_t index, use = 1; ///< no handle is 0
    bool inUse = false;
    T value = {};
  };
  std::deque<Place> places;
  std::vector<Place *> unused;
};

} // namespace smp::runtime

#endif // SMP_RUNTIME_LIB_COMM_HANDLETABLE_H
