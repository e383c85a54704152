//===- Executor.cpp - Executes the schedules of a rank --------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Executor/Executor.h"
#include "ScheduleRun.h"
#include "smp/Support/Hash.h"

using namespace smp;
using namespace smp::runtime;

namespace {

/// Names a command.
struct Labeler {
  const Job &job;

  std::string operator()(const KernelCommand &command) const {
    return job.kernelSymbols[command.kernel];
  }
  std::string operator()(const ProductCommand &p) const {
    return "product " + (p.batch > 1 ? std::to_string(p.batch) + "x" : "") +
           std::to_string(p.m) + "x" + std::to_string(p.n) + "x" +
           std::to_string(p.k);
  }
  std::string operator()(const ConvolutionCommand &c) const {
    constexpr const char *passes[] = {"", " data", " weights"};
    return "convolution" + std::string(passes[int(c.pass)]) + " " +
           std::to_string(c.rows) + "x" + std::to_string(c.input[0]) + "x" +
           std::to_string(c.input[1]) + "x" + std::to_string(c.input[2]);
  }
  std::string operator()(const CollectiveCommand &command) const {
    constexpr const char *names[] = {"all_reduce", "broadcast", "all_gather",
                                     "reduce_scatter"};
    return std::string(names[int(command.op)]) + " " +
           job.groups[command.group].name;
  }
  std::string operator()(const CopyCommand &) const { return "copy"; }
  std::string operator()(const FillCommand &) const { return "fill"; }
};

} // namespace

std::string runtime::labelOf(const Command &command, const Job &job) {
  return std::visit(Labeler{job}, command.work);
}

static std::string labelOf(const Action &action, const Job &job,
                           const RankJob &rankJob) {
  if (auto *launch = std::get_if<LaunchAction>(&action.work)) {
    const std::string &name = rankJob.programs[launch->program].name;
    return launch->chunk < 0 ? name
                             : name + " c" + std::to_string(launch->chunk);
  }
  if (auto *transfer = std::get_if<TransferAction>(&action.work))
    return (transfer->send ? "send " : "recv ") + transfer->edge;
  return "load " +
         job.inputs[std::get<LoadAction>(action.work).input].spec.name;
}

Error runtime::placeError(const Executor::Impl &executor,
                          const std::string &action, int64_t microbatch,
                          int64_t step, const Command *command,
                          const std::string &commandLabel, const Error &error) {
  std::string place = "rank " + std::to_string(executor.setup.comm->rank()) +
                      ": " + action + ", microbatch " +
                      std::to_string(microbatch) + ", step " +
                      std::to_string(step);
  if (command) {
    place += ", command '" + commandLabel + "'";
    if (!command->location.empty())
      place += " (" + command->location + ")";
  }
  return {place + ": " + error.message, error.note};
}

static ProgramPlan planProgram(const Program &program, const Job &job) {
  ProgramPlan plan;
  plan.dependences = Dependences(program.commands);
  for (unsigned i = 0; i < program.commands.size(); ++i) {
    const Command &command = program.commands[i];
    if (command.queue.kind == Queue::Group)
      plan.collectives[command.queue.group].push_back(i);
    plan.labels.push_back(runtime::labelOf(command, job));
  }
  return plan;
}

SchedulePlan &Executor::Impl::planOf(const Schedule &schedule) {
  auto [it, isNew] = schedules.try_emplace(&schedule);
  SchedulePlan &plan = it->second;
  if (!isNew)
    return plan;
  plan.dependences = Dependences(schedule.actions);
  for (unsigned i = 0; i < schedule.actions.size(); ++i) {
    const Action &action = schedule.actions[i];
    plan.labels.push_back(::labelOf(action, *setup.job, *setup.rankJob));
    if (std::holds_alternative<LaunchAction>(action.work))
      plan.launches.push_back(i);
    else if (auto *transfer = std::get_if<TransferAction>(&action.work))
      plan.transfers[{transfer->peer, transfer->send}].push_back(i);
  }
  if (setup.poison)
    plan.poison.emplace(*setup.job, *setup.rankJob, schedule);
  return plan;
}

/// The groups of the job that this rank is in; broadcasts name a member.
static Status makeGroups(Executor::Impl &executor) {
  const ExecutorSetup &setup = executor.setup;
  for (unsigned i = 0; i < setup.job->groups.size(); ++i) {
    std::vector<int> members =
        setup.grid->members(setup.job->groups[i].axes, setup.comm->rank());
    executor.groups.emplace_back();
    if (members.empty())
      continue;
    SMP_ASSIGN_OR_RETURN(executor.groups.back(),
                         setup.comm->createGroup(members, int(i) + 1));
  }
  for (const Program &program : setup.rankJob->programs)
    for (const Command &command : program.commands) {
      auto *collective = std::get_if<CollectiveCommand>(&command.work);
      if (!collective)
        continue;
      const auto &group = executor.groups[collective->group];
      if (!group || int(collective->root) >= group->size())
        return Error{"program '" + program.name + "': expects the root of '" +
                     runtime::labelOf(command, *setup.job) +
                     "' inside its group, got position " +
                     std::to_string(collective->root)};
    }
  return {};
}

Executor::Impl::Impl() = default;
Executor::Impl::~Impl() = default;

Executor::Executor(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Executor::~Executor() = default;

Result<std::unique_ptr<Executor>> Executor::create(const ExecutorSetup &setup) {
  auto impl = std::make_unique<Impl>();
  impl->setup = setup;
  if (setup.orderSeed)
    impl->order.emplace(*setup.orderSeed +
                        splitmix64(uint64_t(setup.comm->rank())));
  SMP_RETURN_IF_ERROR(makeGroups(*impl));
  for (const Program &program : setup.rankJob->programs)
    impl->programs.push_back(planProgram(program, *setup.job));
  return std::unique_ptr<Executor>(new Executor(std::move(impl)));
}

Status Executor::run(const Schedule &schedule, const StepInput &input) {
  std::unique_ptr<ScheduleRun> &run = impl->runs[&schedule];
  if (!run)
    run = std::make_unique<ScheduleRun>(*impl, schedule);
  return run->execute(input);
}
