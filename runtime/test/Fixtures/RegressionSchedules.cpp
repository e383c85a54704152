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

/// The actions of one rank so far, and who fills what.
class test::RegressionActions {
public:
  RegressionActions(const RegressionBuilder &job, const RegressionShape &shape,
                    unsigned rank)
      : job(job), shape(shape), rank(rank), isFirst(rank == 0),
        isLast(rank + 1 == shape.pp) {}

  json list = json::array();

  size_t load(int input, int64_t m) {
    return add(
        {{"kind", "load"}, {"input", input}, {"microbatch", m}, {"slot", m}},
        {});
  }
  size_t launch(const std::string &program, int chunk, int64_t m,
                std::vector<size_t> waits) {
    return add({{"kind", "launch"},
                {"program", program},
                {"chunk", chunk},
                {"microbatch", m},
                {"slots", job.slots(rank, m)}},
               std::move(waits));
  }
  size_t transfer(const std::string &kind, const std::string &buffer, int64_t m,
                  std::vector<size_t> waits) {
    return add({{"kind", kind},
                {"peer", 1 - rank},
                {"edge", buffer == "h" ? "act.c0-c1" : "grad.c1-c0"},
                {"tag", buffer == "h" ? 0 : 1},
                {"microbatch", m},
                {"buffer", job.operand(rank, buffer)},
                {"slot", m}},
               std::move(waits));
  }

  /// Chunk 0, then chunk 1, each where it is ours. `x` and `more` are loads
  /// that they wait for.
  void forward(const std::string &program, int64_t m, size_t x,
               std::vector<size_t> more) {
    std::vector<size_t> ready;
    if (isFirst) {
      ready = {launch(program, 0, m, {x})};
      if (shape.pp == 2)
        transfer("send", "h", m, ready);
    }
    if (!isLast)
      return;
    if (shape.pp == 2)
      ready = {transfer("recv", "h", m, {})};
    ready.insert(ready.end(), more.begin(), more.end());
    launch(program, 1, m, ready);
  }
  void backward(int64_t m) {
    std::vector<size_t> ready;
    if (isLast) {
      ready = {launch("backward", 1, m, {})};
      if (shape.pp == 2)
        transfer("send", "dh", m, ready);
    }
    if (!isFirst)
      return;
    if (shape.pp == 2)
      ready = {transfer("recv", "dh", m, {})};
    launch("backward", 0, m, ready);
  }

private:
  size_t add(json action, std::vector<size_t> waits) {
    action["id"] = list.size();
    std::ranges::sort(waits);
    action["waits"] = waits;
    list.push_back(std::move(action));
    return list.size() - 1;
  }

  const RegressionBuilder &job;
  const RegressionShape &shape;
  unsigned rank;
  bool isFirst, isLast;
};

/// One pass of forward programs, for evaluation and prediction.
json RegressionBuilder::forwardSchedule(unsigned rank,
                                        const std::string &program) const {
  RegressionActions actions(*this, s, rank);
  bool evaluates = program == "evaluate";
  for (int64_t m = 0; m < (evaluates ? s.microbatches : 1); ++m) {
    size_t x = rank == firstRank() ? actions.load(0, m) : 0;
    std::vector<size_t> more;
    if (evaluates && rank == lastRank())
      more = {actions.load(1, m), actions.load(2, m)};
    actions.forward(program, m, x, more);
  }
  return actions.list;
}

json RegressionBuilder::schedule(unsigned rank) const {
  RegressionActions actions(*this, s, rank);
  bool first = rank == firstRank(), last = rank == lastRank();
  int64_t count = s.microbatches;
  std::vector<size_t> x(count);
  std::vector<std::vector<size_t>> target(count);
  for (int64_t m = 0; m < count; ++m) {
    if (first)
      x[m] = actions.load(0, m);
    if (last) {
      target[m] = {actions.load(1, m)};
      actions.launch("count", 1, m, {});
    }
  }
  actions.launch("begin_step", -1, 0, {});
  int64_t ahead = !s.oneByOne ? count : s.pp == 2 && first ? 1 : 0;
  for (int64_t m = 0; m < std::min(ahead, count); ++m)
    actions.forward("forward", m, x[m], target[m]);
  for (int64_t m = 0; m < count; ++m) {
    if (m + ahead < count)
      actions.forward("forward", m + ahead, x[m + ahead], target[m + ahead]);
    actions.backward(m);
  }
  actions.launch("update", -1, 0, {});
  return actions.list;
}
