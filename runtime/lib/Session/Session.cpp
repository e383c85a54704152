//===- Session.cpp - A job in memory on one rank --------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Session/Session.h"
#include "smp/runtime/Comm/Liveness.h"
#include "smp/runtime/Device/CpuDevice.h"
#include "smp/runtime/Job/JobReader.h"

#include <nlohmann/json.hpp>

using namespace smp;
using namespace smp::runtime;

/// The last message that this rank agreed on; ranks may be threads.
static thread_local std::string agreedMessage;

bool runtime::isAgreed(const Error &error) {
  return error.message == agreedMessage;
}

Status runtime::agree(Comm &comm, const Status &status) {
  nlohmann::json own;
  if (!status)
    own = {status.error().message, status.error().note};
  auto replace = nlohmann::json::error_handler_t::replace;
  SMP_ASSIGN_OR_RETURN(
      std::vector<std::string> all,
      comm.allGatherObjects(comm.world(), own.dump(-1, ' ', false, replace)));
  for (const std::string &text : all) {
    nlohmann::json other = nlohmann::json::parse(text, nullptr, false);
    if (!other.is_array() || other.size() != 2)
      continue;
    agreedMessage = other[0].get<std::string>();
    return Error{agreedMessage, other[1].get<std::string>()};
  }
  return {};
}

/// All ranks must execute the same job, wherever they read it from.
static Status compareHashes(Comm &comm, const Job &job) {
  auto replace = nlohmann::json::error_handler_t::replace;
  nlohmann::json own = {job.directory, job.hash};
  SMP_ASSIGN_OR_RETURN(
      std::vector<std::string> texts,
      comm.allGatherObjects(comm.world(), own.dump(-1, ' ', false, replace)));
  std::vector<std::pair<std::string, std::string>> jobs;
  for (const std::string &text : texts)
    jobs.push_back(nlohmann::json::parse(text));
  auto describe = [&](size_t rank) {
    return "'" + jobs[rank].first + "' (hash " + jobs[rank].second +
           ") on rank " + std::to_string(rank);
  };
  Status status;
  for (size_t rank = 0; rank < jobs.size() && status; ++rank)
    if (jobs[rank].second != jobs[0].second)
      status = Error{"expects the same job on all ranks, got " + describe(0) +
                         " and " + describe(rank),
                     "copy one job to all hosts, and name it in every part of "
                     "the command line"};
  return agree(comm, status);
}

static StepContext makeContext(const Job &job, const Grid &grid, int rank,
                               const SessionOptions &options) {
  StepContext context;
  bool prescaled = job.config.prescaledBatch;
  context.seed = options.seed.value_or(job.config.seed);
  context.optimizer = job.config.optimizer;
  context.rates = job.config.lrSchedule;
  context.totalSteps = context.rates.totalSteps.value_or(options.steps);
  context.lossScale = job.config.effectiveLossScale().initScale;
  context.owners = prescaled ? grid.rdp() : grid.dp();
  context.owner = prescaled ? grid.rdpRank(rank) : grid.dpRank(rank);
  context.accumulation = job.accumulation;
  context.microbatches = job.microbatches;
  context.rows = job.microbatchRows;
  context.coordinate = grid.coordinate(rank);
  return context;
}

Status Session::read(const std::string &directory) {
  SMP_ASSIGN_OR_RETURN(theJob, readJob(directory));
  return checkJobHash(theJob);
}

Status Session::open(const std::string &directory,
                     const SessionOptions &options) {
  SMP_RETURN_IF_ERROR(checkCpuFeatures(theJob));
  SMP_ASSIGN_OR_RETURN(theGrid, Grid::create(theJob.placement, int(theJob.pp),
                                             int(theJob.tp), theComm.size()));
  coordinate = theGrid->coordinate(theComm.rank());
  SMP_ASSIGN_OR_RETURN(rankJob, readRankJob(theJob, ppRank()));
  phases = options.phases;
  phases.predict &= coordinate.rdp == 0;
  SMP_ASSIGN_OR_RETURN(arenas, Arenas::allocate(theJob.ranks[ppRank()].arenas,
                                                directory, phases));
  SMP_ASSIGN_OR_RETURN(
      std::vector<KernelFunction> kernels,
      loadKernels(directory + "/" + theJob.kernelFile, theJob.kernelSymbols));
  auto cpu = std::make_unique<CpuDevice>(std::move(kernels), options.threads);
  SMP_RETURN_IF_ERROR(cpu->prepare(rankJob));
  device = std::move(cpu);
  if (options.trace)
    theTrace.emplace(theComm.rank(),
                     "rank " + std::to_string(theComm.rank()) + " (pp " +
                         std::to_string(coordinate.pp) + ", rdp " +
                         std::to_string(coordinate.rdp) + ")");
  context = makeContext(theJob, *theGrid, theComm.rank(), options);
  ExecutorSetup setup;
  setup.job = &theJob;
  setup.rankJob = &rankJob;
  setup.comm = &theComm;
  setup.grid = &*theGrid;
  setup.arenas = &*arenas;
  setup.device = device.get();
  setup.trace = trace();
  setup.orderSeed = options.orderSeed;
  setup.poison = options.poison;
  SMP_ASSIGN_OR_RETURN(executor, Executor::create(setup));
  return {};
}

Result<std::unique_ptr<Session>>
Session::create(const std::string &directory, Comm &comm,
                const SessionOptions &options) {
  std::unique_ptr<Session> session(new Session(comm));
  SMP_RETURN_IF_ERROR(agree(comm, session->read(directory)));
  // Before anything that a job decides, such as how many ranks it wants.
  SMP_RETURN_IF_ERROR(compareHashes(comm, session->theJob));
  SMP_RETURN_IF_ERROR(agree(comm, session->open(directory, options)));
  return session;
}

int64_t Session::unitsOf(int64_t step) const {
  int64_t units = batchOf(step).rows;
  if (theJob.data.tokens && !theJob.inputs.empty())
    for (int64_t extent : theJob.inputs[0].spec.rowShape)
      units *= extent;
  return units;
}

const std::byte *Session::scalar(const std::string &name) const {
  auto it = theJob.scalars.find(name);
  return it != theJob.scalars.end() && it->second.rank == ppRank()
             ? arenas->at(it->second.ref)
             : nullptr;
}

Status Session::sumOverWorld(std::span<double> values, int64_t step) {
  setPhase("sum of results", step);
  return theComm.wait(theComm.allReduce(theComm.world(), DataType::F64,
                                        values.data(), int64_t(values.size())));
}
