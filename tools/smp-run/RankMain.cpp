//===- RankMain.cpp - What one rank of smp-run does -----------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankMain.h"
#include "PrintRanks.h"
#include "smp/Support/ByteCount.h"
#include "smp/Support/MappedFile.h"
#include "smp/runtime/Comm/Liveness.h"
#include "smp/runtime/Device/CpuDevice.h"
#include "smp/runtime/Job/JobReader.h"
#include "smp/runtime/Session/Trainer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <span>
#include <unistd.h>

using namespace smp;
using namespace smp::run;
using namespace smp::runtime;

static int coresOfHost() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return 1;
  return std::max(CPU_COUNT(&set), 1);
}

Status run::print(const std::string &text) {
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
    return Error{std::string("cannot write to standard output: ") +
                 std::strerror(errno)};
  return {};
}

static Result<int> ranksOnHost(Comm &comm) {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  SMP_ASSIGN_OR_RETURN(std::vector<std::string> names,
                       comm.allGatherObjects(comm.world(), name));
  return int(std::count(names.begin(), names.end(), std::string(name)));
}

namespace {

/// One run, in the order of its parts.
class Run {
public:
  Run(const Options &options, Comm &comm)
      : options(options), comm(comm), log(comm.rank() == 0 ? stderr : nullptr) {
  }

  Result<bool> execute();

private:
  Status openSession();
  Status start();
  Status resume();
  Status checkOutputs();
  Status checkPlaces();
  Status openData();
  Result<TrainSummary> trainSteps();
  Status finish(TrainSummary &summary);
  void describe();
  std::string memoryOfStages(const Phases &phases) const;
  /// A resume may find that no step is left: nobody knows that before.
  Phases phases() const {
    return {options.steps.value_or(0) > 0, !options.evalData.empty(),
            options.generate > 0};
  }
  bool trains() const { return options.steps.value_or(0) > firstStep; }
  Session::GenerateOptions generateOptions() const {
    return {options.prompt, options.generate, options.temperature,
            stopRequested};
  }
  void say(const std::string &text) {
    if (log)
      std::fprintf(log, "%s\n", text.c_str());
  }

  const Options &options;
  Comm &comm;
  std::FILE *log;
  int threads = 1, onHost = 1;
  std::unique_ptr<Session> session;
  int64_t firstStep = 0;
  std::optional<CheckpointClaim> claim; ///< on rank 0
};

} // namespace

Status Run::openSession() {
  SMP_ASSIGN_OR_RETURN(onHost, ranksOnHost(comm));
  threads = options.threads.value_or(std::max(coresOfHost() / onHost, 1));
  SessionOptions sessionOptions;
  sessionOptions.threads = threads;
  sessionOptions.seed = options.seed;
  sessionOptions.steps = options.steps.value_or(0);
  sessionOptions.orderSeed = options.orderSeed;
  sessionOptions.poison = options.poison;
  sessionOptions.trace = !options.trace.empty();
  sessionOptions.phases = phases();
  SMP_ASSIGN_OR_RETURN(session,
                       Session::create(options.job, comm, sessionOptions));
  return {};
}

std::string Run::memoryOfStages(const Phases &phases) const {
  std::string sizes;
  for (const RankMemory &memory : session->job().ranks)
    sizes += (sizes.empty() ? "" : ", ") + formatBytes(memory.bytes(phases));
  return sizes;
}

/// What runs where, before the first step.
void Run::describe() {
  const Job &job = session->job();
  const Grid &grid = session->grid();
  int64_t parameters = 0;
  for (const Parameter &parameter : job.parameters)
    if (auto count = elementCount(parameter.shape, DataType::F32))
      parameters += *count;
  say("job '" + job.model + "': " + std::to_string(parameters) +
      " parameters, " + std::to_string(grid.pp()) + " stages x " +
      std::to_string(grid.rdp()) + " replicas, " + std::to_string(threads) +
      (threads == 1 ? " thread" : " threads") + " a rank");
  std::string first = memoryOfStages(phases());
  say("memory of the stages: " + first);
  Phases others = phases();
  others.predict = false;
  if (std::string other = memoryOfStages(others);
      grid.rdp() > 1 && other != first)
    say("memory of the stages in replicas that do not generate: " + other);
}

Status Run::resume() {
  if (options.checkpointDirectory.empty())
    return Error{"option '--resume' expects '--checkpoint-dir', got none"};
  SMP_ASSIGN_OR_RETURN(Resumed resumed,
                       session->resume(options.checkpointDirectory));
  for (const std::string &note : resumed.notes)
    say("note: " + note);
  if (options.seed && *options.seed != resumed.progress.seed)
    return agree(comm, Error{"expects the seed of the checkpoint, " +
                                 std::to_string(resumed.progress.seed) +
                                 ", got " + std::to_string(*options.seed),
                             "data order and dropout would change: leave "
                             "out --seed"});
  session->setProgress(resumed.progress);
  firstStep = resumed.progress.step;
  say("resumed '" + resumed.tag + "' after step " + std::to_string(firstStep));
  if (options.steps && !trains())
    say("note: '--steps' " + std::to_string(*options.steps) +
        " counts the steps of all runs: none is left to do");
  return {};
}

Status Run::start() {
  if (options.resume)
    return resume();
  if (options.init.empty() && session->job().needsInit)
    return agree(comm,
                 Error{"expects '--init', got none: the model came with "
                       "weights, and a job holds none",
                       "--init=model.safetensors, which 'smp-import model.pt2 "
                       "-o model.mlir --weights=model.safetensors' writes, or "
                       "--init=random to train from scratch"});
  std::string source = options.init.empty() ? "random" : options.init;
  SMP_ASSIGN_OR_RETURN(std::vector<std::string> unused,
                       session->initialize(source));
  if (!unused.empty())
    say("note: '" + source + "' holds " + std::to_string(unused.size()) +
        (unused.size() == 1 ? " tensor" : " tensors") +
        " that the job does not use, as '" + unused.front() + "'");
  return {};
}

namespace {
/// An option that names a file, and the file.
struct NamedFile {
  const char *option;
  const std::string &path;
};
} // namespace

/// Whether a file can be written, and nothing is lost by it.
static Status checkOutput(const NamedFile &output, const Options &options,
                          std::span<const NamedFile> earlier) {
  std::string option = "option '--" + std::string(output.option) + "'";
  const std::string &path = output.path;
  auto refuse = [&](const std::string &why, const char *note) {
    return Error{option + " expects a file of its own, got '" + path +
                     "', which " + why,
                 note};
  };
  for (const NamedFile &other : earlier)
    if (!other.path.empty() && isSameFile(path, other.path) &&
        !path.starts_with("/dev/"))
      return refuse("'--" + std::string(other.option) + "' writes",
                    "name another file");
  if (Status status = checkWritable(path); !status)
    return Error{option + ": " + status.error().message};
  const NamedFile inputs[] = {{"data", options.data},
                              {"eval-data", options.evalData},
                              {"init", options.init}};
  for (const NamedFile &input : inputs)
    if (!input.path.empty() && isSameFile(path, input.path))
      return refuse("'--" + std::string(input.option) + "' reads",
                    "it would be overwritten");
  std::string name = path.substr(path.rfind('/') + 1);
  if (isJobFile(name) && isSameFile(path, options.job + "/" + name))
    return refuse("is part of the job", "it would be overwritten");
  return {};
}

/// On rank 0, which writes: every place where something will be written.
Status Run::checkPlaces() {
  const NamedFile outputs[] = {{"metrics", options.metrics},
                               {"trace", options.trace},
                               {"dump-parameters", options.dumpParameters}};
  for (size_t i = 0; i < std::size(outputs); ++i)
    if (!outputs[i].path.empty())
      SMP_RETURN_IF_ERROR(
          checkOutput(outputs[i], options, std::span(outputs, i)));
  if (!trains() || options.checkpointDirectory.empty())
    return {};
  if (!options.resume && hasCheckpoint(options.checkpointDirectory))
    return Error{"option '--checkpoint-dir' expects a folder without "
                 "checkpoints, got '" +
                     options.checkpointDirectory +
                     "' with those of another "
                     "run",
                 "--resume continues that run; for a new one name another "
                 "folder, or remove it"};
  SMP_ASSIGN_OR_RETURN(claim,
                       CheckpointClaim::take(options.checkpointDirectory));
  return {};
}

/// Hours of training are not lost at the end for what can be seen now.
Status Run::checkOutputs() {
  Status status = comm.rank() == 0 ? checkPlaces() : Status();
  SMP_RETURN_IF_ERROR(agree(comm, status));
  return options.generate > 0 ? session->checkGeneration(generateOptions())
                              : Status();
}

Status Run::openData() {
  if (trains() && options.data.empty())
    return agree(comm, Error{"expects '--data' to train, got none",
                             "--data text.u8, or a safetensors file"});
  if (trains() &&
      std::ranges::none_of(session->job().parameters, &Parameter::isTrained))
    return agree(comm, Error{"expects a parameter to train, got none that the "
                             "loss depends on",
                             "all are frozen, detached, or not in the loss"});
  if (trains())
    SMP_RETURN_IF_ERROR(session->openTrainingData(
        options.data,
        options.dataOrder == "file" ? DataOrder::File : DataOrder::Shuffled));
  if (!options.evalData.empty())
    SMP_RETURN_IF_ERROR(session->openEvaluationData(options.evalData));
  return {};
}

Result<TrainSummary> Run::trainSteps() {
  TrainOptions train;
  train.steps = options.steps.value_or(firstStep);
  train.evalEvery = options.evalEvery;
  train.saveEvery = options.saveEvery;
  train.checkpointDirectory = options.checkpointDirectory;
  train.metrics = options.metrics;
  train.evaluates = !options.evalData.empty();
  train.appendMetrics = options.resume;
  train.onNan = options.onNan == "skip" ? OnNan::Skip : OnNan::Stop;
  train.log = log;
  train.terminal = log && std::getenv("SMP_RUN_TERMINAL");
  train.stop = stopRequested;
  // Threads beyond the cores add nothing to what the machine can reach.
  if (log && train.steps > firstStep)
    train.peakFlops = measurePeak() * comm.size() / onHost *
                      std::min(onHost * threads, coresOfHost());
  return train.steps < firstStep
             ? Result<TrainSummary>(TrainSummary{firstStep, 0, {}, false})
             : runtime::train(*session, train, firstStep);
}

Status Run::finish(TrainSummary &summary) {
  if (!options.dumpParameters.empty())
    SMP_RETURN_IF_ERROR(session->dumpParameters(options.dumpParameters));
  if (options.generate > 0 && !summary.interrupted) {
    SMP_ASSIGN_OR_RETURN(std::string text,
                         session->generate(generateOptions()));
    SMP_RETURN_IF_ERROR(
        agree(comm, comm.rank() == 0 ? print(text + "\n") : Status()));
    size_t generated = text.size() - options.prompt.size();
    summary.interrupted = generated < size_t(options.generate);
  }
  if (Trace *trace = session->trace())
    SMP_RETURN_IF_ERROR(writeTrace(comm, *trace, options.trace));
  return {};
}

Result<bool> Run::execute() {
  setPhase("opening of the job");
  SMP_RETURN_IF_ERROR(openSession());
  describe();
  setPhase(options.resume ? "resume" : "initial values");
  SMP_RETURN_IF_ERROR(start());
  setPhase("opening of the data");
  SMP_RETURN_IF_ERROR(openData());
  SMP_RETURN_IF_ERROR(checkOutputs());
  SMP_ASSIGN_OR_RETURN(TrainSummary summary, trainSteps());
  setPhase("end of the run", summary.steps);
  SMP_RETURN_IF_ERROR(finish(summary));
  if (summary.interrupted)
    say("stopped after step " + std::to_string(summary.steps));
  return summary.interrupted;
}

/// --print-ranks with ranks: every group works, then the table.
static Result<bool> printTable(const Options &options, Comm &comm) {
  Result<Grid> grid = gridOf(options, comm.size());
  SMP_RETURN_IF_ERROR(agree(comm, grid ? Status() : Status(grid.error())));
  SMP_RETURN_IF_ERROR(agree(comm, useGroups(comm, *grid)));
  SMP_RETURN_IF_ERROR(
      agree(comm, comm.rank() == 0 ? print(smp::printRanks(*grid)) : Status()));
  return false;
}

/// Ranks with other options would do another number of steps, or wait for each
/// other forever.
static Status compareOptions(const Options &options, Comm &comm) {
  using Values = std::map<std::string, std::string>;
  auto replace = nlohmann::json::error_handler_t::replace;
  SMP_ASSIGN_OR_RETURN(
      std::vector<std::string> texts,
      comm.allGatherObjects(
          comm.world(),
          nlohmann::json(options.agreed).dump(-1, ' ', false, replace)));
  Values first = nlohmann::json::parse(texts[0]);
  auto valueOf = [](const Values &values, const std::string &name) {
    auto found = values.find(name);
    return found == values.end() ? std::string("none") : found->second;
  };
  Status status;
  for (size_t rank = 1; rank < texts.size() && status; ++rank) {
    Values other = nlohmann::json::parse(texts[rank]), names = first;
    names.insert(other.begin(), other.end());
    for (const auto &[name, value] : names)
      if (status && valueOf(first, name) != valueOf(other, name))
        status = Error{
            "option '--" + name + "' expects the same on all ranks, got " +
                valueOf(first, name) + " on rank 0 and " +
                valueOf(other, name) + " on rank " + std::to_string(rank),
            "give it in every part of the command line"};
  }
  return agree(comm, status);
}

Result<bool> run::runRank(const Options &options, Comm &comm) {
  SMP_RETURN_IF_ERROR(compareOptions(options, comm));
  if (options.ranks && *options.ranks != comm.size())
    return agree(comm,
                 Error{"option '--ranks' expects the size of the world, " +
                       std::to_string(comm.size()) + ", got " +
                       std::to_string(*options.ranks)})
        .error();
  return options.printRanks ? printTable(options, comm)
                            : Run(options, comm).execute();
}
