//===- LinearPartition.cpp - Best cuts of a line of units -----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two passes of the same dynamic programme: the first finds the smallest
// largest cost, the second, among plans that stay within it, the fewest
// transferred bytes and then the fewest split modules. Both are exact: the
// first minimises a maximum, the second a sum, over independent prefixes.
//
//===----------------------------------------------------------------------===//

#include "smp/Partition/LinearPartition.h"

#include "smp/Partition/Assignment.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <limits>
#include <utility>

namespace smp::partition {

int LinearPlan::stageOf(int unit) const {
  auto after = std::ranges::upper_bound(begin, unit);
  return static_cast<int>(after - begin.begin()) - 1;
}

static std::string number(double value) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.4g", value);
  return text.data();
}

/// How many modules are on both sides of the place after `unit`.
static int modulesSplit(const std::vector<Unit> &units, int unit) {
  const std::string &a = units[unit].path, &b = units[unit + 1].path;
  int modules = 0;
  for (size_t at = 0; at < a.size();) {
    size_t dot = std::min(a.find('.', at), a.size());
    if (!isAncestor(std::string_view(a).substr(0, dot), b))
      break;
    ++modules;
    at = dot + 1;
  }
  return modules;
}

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Prefix sums of a problem, so that a stage costs constant time.
class Costs {
public:
  explicit Costs(const LinearProblem &problem)
      : problem(problem), units(static_cast<int>(problem.units.size())),
        time(units + 1), resident(units + 1), stash(units + 1) {
    for (int i = 0; i < units; ++i) {
      const Unit &unit = problem.units[i];
      time[i + 1] = time[i] + unit.time;
      resident[i + 1] = resident[i] + unit.residentBytes;
      stash[i + 1] = stash[i] + unit.stashBytes;
    }
    int64_t most = 1, least = std::numeric_limits<int64_t>::max();
    for (int stage = 0; stage < problem.stages; ++stage) {
      most = std::max(most, inFlight(stage));
      least = std::min(least, inFlight(stage));
    }
    totalMemory = resident[units] + stash[units] * most;
    fewestInFlight = least;
    foreignPins.resize(problem.stages, std::vector<int>(units + 1));
    for (int stage = 0; stage < problem.stages; ++stage)
      for (int i = 0; i < units; ++i) {
        std::optional<int> pin = problem.units[i].pin;
        foreignPins[stage][i + 1] =
            foreignPins[stage][i] + (pin && *pin != stage);
      }
  }

  int count() const { return units; }
  int64_t inFlight(int stage) const {
    return problem.inFlight.empty() ? 1 : problem.inFlight[stage];
  }
  int64_t residentBytes(int from, int to) const {
    return resident[to] - resident[from];
  }

  int64_t memory(int stage, int from, int to) const {
    return residentBytes(from, to) +
           (stash[to] - stash[from]) * inFlight(stage);
  }

  StageCost stage(int stage, int from, int to) const {
    StageCost cost;
    int64_t crossing = (from > 0 ? problem.cuts[from - 1].bytes : 0) +
                       (to < units ? problem.cuts[to - 1].bytes : 0);
    cost.time = time[to] - time[from] +
                problem.secondsPerByte * static_cast<double>(crossing);
    cost.memory = memory(stage, from, to);
    cost.cost = weigh(static_cast<double>(cost.memory), cost.time);
    return cost;
  }

  /// Neither pins nor cuts nor the limit speak against it.
  bool allowed(int stage, int from, int to, int64_t limit) const {
    return to > from && (from == 0 || problem.cuts[from - 1].allowed) &&
           foreignPins[stage][to] == foreignPins[stage][from] &&
           (limit == 0 || memory(stage, from, to) <= limit);
  }

  /// What every partition must have: an even share of everything, and the
  /// largest unit, where fewest microbatches are in flight.
  double anyOrderBound() const {
    double bound = weigh(static_cast<double>(resident[units] +
                                             stash[units] * fewestInFlight),
                         time[units]) /
                   problem.stages;
    for (const Unit &unit : problem.units)
      bound = std::max(
          bound, weigh(static_cast<double>(unit.residentBytes +
                                           unit.stashBytes * fewestInFlight),
                       unit.time));
    return bound;
  }

private:
  double weigh(double memory, double seconds) const {
    double memoryShare =
        totalMemory > 0 ? memory / static_cast<double>(totalMemory) : 0;
    double timeShare = time[units] > 0 ? seconds / time[units] : 0;
    return problem.memoryWeight * memoryShare +
           (1 - problem.memoryWeight) * timeShare;
  }

  const LinearProblem &problem;
  int units;
  std::vector<double> time;
  std::vector<int64_t> resident, stash;
  std::vector<std::vector<int>> foreignPins; ///< by stage, prefix counts
  int64_t totalMemory = 0;
  int64_t fewestInFlight = 1;
};

/// `best[s][i]` is the best value of the first i units on stages 0 to s, and
/// `from[s][i]` where stage s then starts. `combine(prefix, s, j, i)` is the
/// value with stage s on units [j, i).
template <typename Value> struct Programme {
  std::vector<std::vector<Value>> best;
  std::vector<std::vector<int>> from;

  template <typename Allowed, typename Combine>
  Programme(int stages, int units, Value none, Value start, Allowed allowed,
            Combine combine)
      : best(stages, std::vector<Value>(units + 1, none)),
        from(stages, std::vector<int>(units + 1, -1)) {
    for (int s = 0; s < stages; ++s)
      for (int i = s + 1; i <= units; ++i)
        for (int j = s == 0 ? 0 : s; j < (s == 0 ? 1 : i); ++j) {
          if ((s > 0 && from[s - 1][j] < 0) || !allowed(s, j, i))
            continue;
          Value value = combine(s == 0 ? start : best[s - 1][j], s, j, i);
          if (from[s][i] >= 0 && !(value < best[s][i]))
            continue;
          best[s][i] = value;
          from[s][i] = j;
        }
  }

  bool solved() const { return from.back().back() >= 0; }
  Value value() const { return best.back().back(); }

  std::vector<int> begins() const {
    std::vector<int> begin(from.size());
    int end = static_cast<int>(from.back().size()) - 1;
    for (size_t s = from.size(); s-- > 0;) {
      begin[s] = from[s][end];
      end = begin[s];
    }
    return begin;
  }
};

} // namespace

static Status checkProblem(const LinearProblem &problem) {
  int units = static_cast<int>(problem.units.size());
  if (problem.stages < 1 || units < problem.stages)
    return Error{"expects at least one unit for each of " +
                     std::to_string(problem.stages) + " stages, got " +
                     std::to_string(units) + " units",
                 "lower 'pipeline_parallel_degree'"};
  if (static_cast<int>(problem.cuts.size()) != units - 1)
    return Error{"expects " + std::to_string(units - 1) +
                 " places to cut between " + std::to_string(units) +
                 " units, got " + std::to_string(problem.cuts.size())};
  if (!problem.inFlight.empty() &&
      static_cast<int>(problem.inFlight.size()) != problem.stages)
    return Error{"expects the microbatches in flight of " +
                 std::to_string(problem.stages) + " stages, got " +
                 std::to_string(problem.inFlight.size())};
  if (!(problem.memoryWeight >= 0 && problem.memoryWeight <= 1))
    return Error{"expects 'memory_weight' from 0 to 1, got " +
                 number(problem.memoryWeight)};
  const Unit *latest = nullptr;
  for (const Unit &unit : problem.units) {
    if (!unit.pin)
      continue;
    if (*unit.pin < 0 || *unit.pin >= problem.stages)
      return Error{"expects '" + unit.path + "' pinned to a partition from 0 " +
                   "to " + std::to_string(problem.stages - 1) + ", got " +
                   std::to_string(*unit.pin)};
    if (latest && *latest->pin > *unit.pin)
      return Error{"expects pins in the order of the model, got '" +
                       latest->path + "' on partition " +
                       std::to_string(*latest->pin) + " before '" + unit.path +
                       "' on partition " + std::to_string(*unit.pin),
                   "set 'auto_partition' to false for an assignment that "
                   "visits a partition more than once"};
    latest = &unit;
  }
  return {};
}

/// Says which stage needs how much in the plan whose largest stage is smallest.
static Error nothingFits(const LinearProblem &problem, const Costs &costs) {
  int stages = problem.stages, units = costs.count();
  Programme<double> least(
      stages, units, infinite, 0.0,
      [&](int s, int j, int i) { return costs.allowed(s, j, i, 0); },
      [&](double before, int s, int j, int i) {
        return std::max(before, static_cast<double>(costs.memory(s, j, i)));
      });
  if (!least.solved())
    return {"expects a plan of " + std::to_string(stages) +
                " stages that keeps the pins and what may not be cut, got none",
            "remove pins or lower 'pipeline_parallel_degree'"};
  std::vector<int> begin = least.begins();
  begin.push_back(units);
  int worst = 0;
  for (int s = 1; s < stages; ++s)
    if (costs.memory(s, begin[s], begin[s + 1]) >
        costs.memory(worst, begin[worst], begin[worst + 1]))
      worst = s;
  int64_t bytes = costs.memory(worst, begin[worst], begin[worst + 1]);
  int64_t resident = costs.residentBytes(begin[worst], begin[worst + 1]);
  bool activations = bytes - resident > resident;
  return {
      "expects every stage to fit into " + std::to_string(problem.memoryLimit) +
          " bytes, got stage " + std::to_string(worst) + " with " +
          std::to_string(bytes) + " bytes in the plan that needs least",
      std::to_string(resident) +
          " bytes are parameters, gradients and optimizer state, " +
          std::to_string(bytes - resident) + " bytes activations of " +
          std::to_string(costs.inFlight(worst)) + " microbatches in flight; " +
          (activations ? "more 'microbatches' or a smaller "
                         "'active_microbatches' would help"
                       : "a larger 'pipeline_parallel_degree' would help")};
}

Result<LinearPlan> partitionLinear(const LinearProblem &problem) {
  SMP_RETURN_IF_ERROR(checkProblem(problem));
  Costs costs(problem);
  int stages = problem.stages, units = costs.count();
  auto allowed = [&](int s, int j, int i) {
    return costs.allowed(s, j, i, problem.memoryLimit);
  };
  Programme<double> first(stages, units, infinite, 0.0, allowed,
                          [&](double before, int s, int j, int i) {
                            return std::max(before, costs.stage(s, j, i).cost);
                          });
  if (!first.solved())
    return nothingFits(problem, costs);
  double objective = first.value();
  // Bytes, then split modules, of the cuts so far.
  using Transfer = std::pair<int64_t, int>;
  Programme<Transfer> second(
      stages, units, Transfer(), Transfer(),
      [&](int s, int j, int i) {
        return allowed(s, j, i) && costs.stage(s, j, i).cost <= objective;
      },
      [&](Transfer before, int, int j, int) {
        if (j == 0)
          return before;
        return Transfer(before.first + problem.cuts[j - 1].bytes,
                        before.second + modulesSplit(problem.units, j - 1));
      });
  SMP_ASSIGN_OR_RETURN(LinearPlan plan, evaluatePlan(problem, second.begins()));
  plan.orderBound = objective;
  return plan;
}

/// The largest stage cost when cut `stage` moves by `step` units; infinite when
/// that is not allowed.
static double movedObjective(const LinearProblem &problem, const Costs &costs,
                             std::vector<int> begin, int stage, int step) {
  begin[stage] += step;
  begin.push_back(costs.count());
  double largest = 0;
  for (int s = 0; s < problem.stages; ++s) {
    if (!costs.allowed(s, begin[s], begin[s + 1], problem.memoryLimit))
      return infinite;
    largest = std::max(largest, costs.stage(s, begin[s], begin[s + 1]).cost);
  }
  return largest;
}

/// Functions called outside of modules have no path.
static std::string shown(const std::string &path) {
  return path.empty() ? "operations outside of modules" : "'" + path + "'";
}

static std::string explainCut(const LinearProblem &problem, const Costs &costs,
                              const LinearPlan &plan, int stage) {
  const StageCost &left = plan.stages[stage - 1], &right = plan.stages[stage];
  std::string text = "stage " + std::to_string(stage) + " starts at " +
                     shown(problem.units[plan.begin[stage]].path) + ": " +
                     std::to_string(problem.cuts[plan.begin[stage] - 1].bytes) +
                     " bytes cross there and back in each microbatch; stage " +
                     std::to_string(stage - 1) + " costs " + number(left.cost) +
                     ", stage " + std::to_string(stage) + " costs " +
                     number(right.cost) + ", the largest " +
                     number(plan.objective);
  for (int step : {-1, 1}) {
    double moved = movedObjective(problem, costs, plan.begin, stage, step);
    text += step < 0 ? "; one unit earlier " : ", one later ";
    if (moved == infinite)
      text += "is not allowed";
    else
      text += (step < 0 ? "the largest would be " : "") + number(moved);
  }
  return text;
}

Result<LinearPlan> evaluatePlan(const LinearProblem &problem,
                                const std::vector<int> &begin) {
  SMP_RETURN_IF_ERROR(checkProblem(problem));
  Costs costs(problem);
  bool ascending =
      static_cast<int>(begin.size()) == problem.stages && begin[0] == 0 &&
      begin.back() < costs.count() &&
      std::ranges::adjacent_find(begin, std::greater_equal<>()) == begin.end();
  if (!ascending)
    return Error{"expects the first units of " +
                 std::to_string(problem.stages) +
                 " stages in ascending order "
                 "from 0 to " +
                 std::to_string(costs.count() - 1) + ", got another list"};
  LinearPlan plan;
  plan.begin = begin;
  for (int s = 0; s < problem.stages; ++s) {
    int end = s + 1 < problem.stages ? begin[s + 1] : costs.count();
    plan.stages.push_back(costs.stage(s, begin[s], end));
    plan.objective = std::max(plan.objective, plan.stages.back().cost);
    if (s > 0)
      plan.transferBytes += problem.cuts[begin[s] - 1].bytes;
  }
  plan.anyOrderBound = costs.anyOrderBound();
  plan.orderBound = plan.anyOrderBound;
  for (int s = 1; s < problem.stages; ++s)
    plan.explanations.push_back(explainCut(problem, costs, plan, s));
  return plan;
}

} // namespace smp::partition
