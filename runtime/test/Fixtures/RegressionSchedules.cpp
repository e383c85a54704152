//===- RegressionSchedules.cpp - Schedules of the test job ----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RegressionBuilder.h"

#include <algorithm>

using namespace smp;
using namespace smp::runtime;
using namespace smp::runtime::test;
using nlohmann::json;

json RegressionBuilder::slots(unsigned rank, int64_t slot) const {
  json result = json::object();
  for (const auto &[key, place] : places)
    if (key.first == rank && place.slotted)
      result[std::to_string(place.arena)] = slot;
  return result;
}

namespace {

/// Appends actions and remembers who fills and reads what.
struct ActionList {
  json actions = json::array();

  size_t add(json action, std::vector<size_t> waits) {
    action["id"] = actions.size();
    std::sort(waits.begin(), waits.end());
    action["waits"] = waits;
    actions.push_back(std::move(action));
    return actions.size() - 1;
  }
};

} // namespace

/// One pass of forward programs, for evaluation and prediction.
json RegressionBuilder::forwardSchedule(unsigned rank,
                                        const std::string &program) const {
  ActionList list;
  bool evaluates = program == "evaluate";
  auto load = [&](int input, int64_t m) {
    return list.add(
        {{"kind", "load"}, {"input", input}, {"microbatch", m}, {"slot", m}},
        {});
  };
  auto launch = [&](int chunk, int64_t m, std::vector<size_t> waits) {
    return list.add({{"kind", "launch"},
                     {"program", program},
                     {"chunk", chunk},
                     {"microbatch", m},
                     {"slots", slots(rank, m)}},
                    waits);
  };
  auto transfer = [&](const char *kind, unsigned peer, int64_t m,
                      std::vector<size_t> waits) {
    return list.add({{"kind", kind},
                     {"peer", peer},
                     {"edge", "act.c0-c1"},
                     {"tag", 0},
                     {"microbatch", m},
                     {"buffer", operand(rank, "h")},
                     {"slot", m}},
                    waits);
  };
  for (int64_t m = 0; m < (evaluates ? s.microbatches : 1); ++m) {
    std::vector<size_t> ready;
    if (rank == firstRank()) {
      ready = {launch(0, m, {load(0, m)})};
      if (s.pp == 2)
        transfer("send", 1, m, ready);
    }
    if (rank != lastRank())
      continue;
    if (s.pp == 2)
      ready = {transfer("recv", 0, m, {})};
    if (evaluates)
      ready.insert(ready.end(), {load(1, m), load(2, m)});
    launch(1, m, ready);
  }
  return list.actions;
}

json RegressionBuilder::schedule(unsigned rank) const {
  ActionList list;
  bool first = rank == firstRank(), last = rank == lastRank();
  int64_t count = s.microbatches;
  std::vector<size_t> x(count), target(count), forward(count);
  auto launch = [&](const char *program, int chunk, int64_t m,
                    std::vector<size_t> waits) {
    return list.add({{"kind", "launch"},
                     {"program", program},
                     {"chunk", chunk},
                     {"microbatch", m},
                     {"slots", slots(rank, m)}},
                    waits);
  };
  auto transfer = [&](const char *kind, const char *buffer, int64_t m,
                      std::vector<size_t> waits) {
    return list.add(
        {{"kind", kind},
         {"peer", 1 - rank},
         {"edge", buffer == std::string("h") ? "act.c0-c1" : "grad.c1-c0"},
         {"tag", buffer == std::string("h") ? 0 : 1},
         {"microbatch", m},
         {"buffer", operand(rank, buffer)},
         {"slot", m}},
        waits);
  };
  for (int64_t m = 0; m < count; ++m) {
    auto load = [&](int input) {
      return list.add(
          {{"kind", "load"}, {"input", input}, {"microbatch", m}, {"slot", m}},
          {});
    };
    if (first)
      x[m] = load(0);
    if (last) {
      target[m] = load(1);
      launch("count", 1, m, {});
    }
  }
  launch("begin_step", -1, 0, {});
  auto runForward = [&](int64_t m) {
    std::vector<size_t> ready;
    if (first) {
      ready = {launch("forward", 0, m, {x[m]})};
      if (s.pp == 2)
        transfer("send", "h", m, ready);
    }
    if (last) {
      if (s.pp == 2)
        ready = {transfer("recv", "h", m, {})};
      ready.push_back(target[m]);
      launch("forward", 1, m, ready);
    }
  };
  auto runBackward = [&](int64_t m) {
    std::vector<size_t> ready;
    if (last) {
      ready = {launch("backward", 1, m, {})};
      if (s.pp == 2)
        transfer("send", "dh", m, ready);
    }
    if (first) {
      if (s.pp == 2)
        ready = {transfer("recv", "dh", m, {})};
      launch("backward", 0, m, ready);
    }
  };
  int64_t ahead = !s.oneByOne ? count : s.pp == 2 && first ? 1 : 0;
  for (int64_t m = 0; m < std::min(ahead, count); ++m)
    runForward(m);
  for (int64_t m = 0; m < count; ++m) {
    if (m + ahead < count)
      runForward(m + ahead);
    runBackward(m);
  }
  launch("update", -1, 0, {});
  return list.actions;
}
