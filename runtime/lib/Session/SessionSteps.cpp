//===- SessionSteps.cpp - Training steps and evaluation -------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Comm/Liveness.h"
#include "smp/runtime/Session/Session.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>

using namespace smp;
using namespace smp::runtime;
using Clock = std::chrono::steady_clock;

bool Session::consumesInputs(const Schedule &schedule) const {
  return std::ranges::any_of(schedule.actions, [](const Action &action) {
    return std::holds_alternative<LoadAction>(action.work);
  });
}

Result<std::unique_ptr<Dataset>>
Session::openData(const std::string &path) const {
  std::vector<InputSpec> specs;
  for (const Input &input : theJob.inputs)
    if (input.spec.role != InputRole::RowWeight)
      specs.push_back(input.spec);
  if (!theJob.data.tokens || path.ends_with(".safetensors"))
    return openArrays(path, specs);
  TokenOptions options;
  options.vocabulary = theJob.data.vocabulary;
  options.convention = theJob.data.convention;
  options.seed = context.seed;
  for (const InputSpec &spec : specs)
    if (spec.role == InputRole::Input && spec.rowShape.size() == 1)
      options.sequenceLength = spec.rowShape[0];
  return openTokens(path, options);
}

Status Session::openTrainingData(const std::string &path, DataOrder order) {
  Status status;
  if (consumesInputs(rankJob.train)) {
    auto opened = openData(path);
    if (opened)
      training = std::move(*opened);
    else
      status = opened.error();
  }
  if (training)
    trainingOrder = order == DataOrder::File
                        ? SampleOrder::inFileOrder(training->size())
                        : SampleOrder(training->size(), context.seed);
  SMP_RETURN_IF_ERROR(agree(theComm, status));
  int64_t rows = context.samplesPerStep();
  SMP_ASSIGN_OR_RETURN(int64_t samples,
                       agreeOnSize(path, training.get(), rankJob.train, rows,
                                   theJob.config.dropLast
                                       ? LastBatch::Dropped
                                       : LastBatch::OfTraining));
  if (samples > 0)
    batches.emplace(samples, rows, theJob.config.dropLast);
  return {};
}

/// Whether some input of a schedule tells padded rows from real ones.
static bool readsRowWeights(const Job &job, const Schedule &schedule) {
  return std::ranges::any_of(schedule.actions, [&](const Action &action) {
    const auto *load = std::get_if<LoadAction>(&action.work);
    return load && job.inputs[load->input].spec.role == InputRole::RowWeight;
  });
}

/// An error unless the samples make whole batches, those from `first` on too,
/// or the last one may be padded or left out.
static Status checkLastBatch(const std::string &path, int64_t samples,
                             int64_t first, int64_t rows, bool pads,
                             LastBatch last) {
  std::string got = ", got " + std::to_string(samples);
  if (last == LastBatch::Dropped && samples < rows)
    return Error{"'" + path + "': expects at least " + std::to_string(rows) +
                     " samples, one batch, as 'drop_last' leaves out smaller "
                     "ones" +
                     got,
                 "use more data, fewer replicas, or compile with a smaller "
                 "'batch_size'"};
  if (last == LastBatch::Dropped || pads ||
      (samples % rows == 0 && first % rows == 0))
    return {};
  if (samples % rows == 0)
    return Error{"'" + path + "': expects a multiple of " +
                     std::to_string(rows) +
                     " samples to be left of the epoch that is resumed, as "
                     "padded rows would change this model's loss, got " +
                     std::to_string(samples - first),
                 "resume with the replicas and the batch of the run that "
                 "saved, or compile with 'drop_last' to leave out the rest"};
  return Error{
      "'" + path + "': expects a multiple of " + std::to_string(rows) +
          " samples, as padded rows would change this model's loss" + got,
      last == LastBatch::OfTraining
          ? "compile with 'drop_last' to leave out the last batch"
          : "evaluation leaves out no samples: give a file with such a "
            "number, or run with other replicas"};
}

/// Ranks that read no inputs learn from the others how many samples there are,
/// and whether batches may have fewer rows.
Result<int64_t> Session::agreeOnSize(const std::string &path,
                                     const Dataset *data,
                                     const Schedule &schedule, int64_t rows,
                                     LastBatch last) {
  struct Known {
    int64_t samples;
    uint64_t fingerprint;
    bool pads;
  };
  nlohmann::json own = {data ? data->size() : 0, data ? data->fingerprint() : 0,
                        readsRowWeights(theJob, schedule)};
  SMP_ASSIGN_OR_RETURN(std::vector<std::string> texts,
                       theComm.allGatherObjects(theComm.world(), own.dump()));
  std::vector<Known> all;
  for (const std::string &text : texts) {
    nlohmann::json known = nlohmann::json::parse(text);
    all.push_back({known[0], known[1], known[2]});
  }
  auto reader = std::ranges::find_if(all, &Known::samples);
  int64_t samples = reader == all.end() ? 0 : reader->samples;
  bool pads = std::ranges::any_of(all, &Known::pads);
  auto nameOf = [&](const Known &known) {
    return "rank " + std::to_string(&known - all.data());
  };
  Status status;
  for (const Known &other : all) {
    if (!status || other.samples == 0 ||
        other.fingerprint == reader->fingerprint)
      continue;
    std::string got =
        std::to_string(samples) + " samples on " + nameOf(*reader) + " and " +
        (other.samples == samples ? "others" : std::to_string(other.samples)) +
        " on " + nameOf(other);
    status =
        Error{"'" + path + "' expects the same data on all ranks, got " + got,
              "copy one file to all hosts"};
  }
  // Evaluation begins with the first sample.
  bool resumes = last != LastBatch::OfEvaluation && samples > 0;
  int64_t first = resumes ? begin.samples % samples : 0;
  if (status && samples > 0)
    status = checkLastBatch(path, samples, first, rows, pads, last);
  SMP_RETURN_IF_ERROR(agree(theComm, status));
  return samples;
}

static constexpr std::string_view sumPrefix = "eval_sum/",
                                  countPrefix = "eval_count/";

/// The terms of the loss that the evaluation program adds up.
static std::vector<std::string> evaluationTerms(const Job &job) {
  std::vector<std::string> terms;
  for (const auto &[name, scalar] : job.scalars)
    if (name.starts_with(sumPrefix))
      terms.push_back(name.substr(sumPrefix.size()));
  return terms;
}

Status Session::openEvaluationData(const std::string &path) {
  Status status;
  if (evaluationTerms(theJob).empty())
    status = Error{"expects a job with an evaluation program, got one without"};
  if (status && consumesInputs(rankJob.evaluate)) {
    auto opened = openData(path);
    if (opened)
      evaluation = std::move(*opened);
    else
      status = opened.error();
  }
  SMP_RETURN_IF_ERROR(agree(theComm, status));
  SMP_ASSIGN_OR_RETURN(evaluationSize,
                       agreeOnSize(path, evaluation.get(), rankJob.evaluate,
                                   evaluationRows(), LastBatch::OfEvaluation));
  return {};
}

void Session::setProgress(const Progress &progress) {
  begin = progress;
  context.seed = progress.seed;
  context.skipped = progress.skipped;
}

Batch Session::batchOf(int64_t step) const {
  int64_t rows = context.samplesPerStep();
  if (!batches)
    return {begin.samples + (step - begin.step) * rows, rows};
  return batches->after(begin.samples, step - begin.step);
}

Progress Session::progressAfter(int64_t step) const {
  int64_t samples = begin.samples;
  if (step > begin.step) {
    Batch last = batchOf(step - 1);
    samples = last.position + last.rows;
  }
  return {step, samples, context.seed, context.skipped};
}

/// A list of all samples would be memory beside the plan, and as much for each
/// row as a small model has of activations.
static constexpr int64_t samplesAtOnce = 1024;

/// Fills the `count` rows of a microbatch; `sampleOf` says what each one is.
template <typename SampleOf>
static Status readRows(const Dataset &data, const InputSpec &input,
                       int64_t count, std::vector<Sample> &samples,
                       SampleOf sampleOf, void *rows) {
  SMP_ASSIGN_OR_RETURN(int64_t elements,
                       elementCount(input.rowShape, input.type));
  int64_t rowBytes = elements * byteWidth(input.type);
  for (int64_t begin = 0; begin < count; begin += samplesAtOnce) {
    samples.clear();
    for (int64_t row = begin; row < std::min(begin + samplesAtOnce, count);
         ++row)
      samples.push_back(sampleOf(row));
    SMP_RETURN_IF_ERROR(data.read(
        input, samples, static_cast<std::byte *>(rows) + begin * rowBytes));
  }
  return {};
}

Result<StepResult> Session::trainStep(int64_t step, bool interrupted) {
  Batch batch = batchOf(step);
  StepInput input;
  input.step = step + 1;
  auto state = [&](int64_t microbatch) {
    return context.state(step, batch.position, microbatch);
  };
  auto fill = [&](const LoadAction &load, int64_t microbatch, void *rows) {
    auto sampleOf = [&](int64_t row) {
      // A missing row repeats the first, whose values are fit to compute with.
      int64_t place = context.rowOffset(microbatch) + row;
      bool exists = place < batch.rows;
      Sample sample = trainingOrder->at(batch.position + (exists ? place : 0));
      sample.padding = !exists;
      return sample;
    };
    return readRows(*training, theJob.inputs[load.input].spec, context.rows,
                    samples, sampleOf, rows);
  };
  // References fit into the function objects, the closures would not.
  input.state = std::ref(state);
  input.load = std::ref(fill);
  setPhase("training", step + 1); // users count steps from 1
  SMP_RETURN_IF_ERROR(executor->run(rankJob.train, input));

  // Ranks that do not hold a value add zero, which changes no bit of it.
  double values[3] = {0, 0, interrupted ? 1.0 : 0.0};
  if (const std::byte *loss = scalar("loss")) {
    float value = 0;
    std::memcpy(&value, loss, sizeof value);
    values[0] = value;
  }
  if (const std::byte *norm = scalar("grad_norm"); norm && coordinate.rdp == 0)
    std::memcpy(&values[1], norm, sizeof(double));
  SMP_RETURN_IF_ERROR(sumOverWorld(values, step + 1));
  StepResult result;
  result.loss = values[0];
  if (theJob.scalars.count("grad_norm"))
    result.gradientNorm = values[1];
  result.interrupted = values[2] > 0;
  result.samples = batch.rows;
  result.leftOut = result.gradientNorm && !std::isfinite(*result.gradientNorm);
  context.skipped += result.leftOut;
  return result;
}

Status Session::runEvaluation(int64_t step, int64_t pass) {
  auto firstSample = [&](int64_t microbatch) {
    return ((pass * context.owners + context.owner) * context.microbatches +
            microbatch) *
           context.rows;
  };
  StepInput input;
  input.step = step;
  input.state = [&](int64_t microbatch) {
    StepState state = context.state(step, 0, microbatch);
    state.sampleOffset = firstSample(microbatch);
    return state;
  };
  input.load = [&](const LoadAction &load, int64_t microbatch, void *rows) {
    auto sampleOf = [&](int64_t row) -> Sample {
      int64_t index = firstSample(microbatch) + row;
      bool exists = index < evaluation->size();
      return {exists ? index : 0, -1, !exists};
    };
    return readRows(*evaluation, theJob.inputs[load.input].spec, context.rows,
                    samples, sampleOf, rows);
  };
  return executor->run(rankJob.evaluate, input);
}

/// Whether all were run, and nobody was asked to stop.
Result<bool> Session::runPasses(int64_t step, int64_t passes, bool (*stop)()) {
  // Stages wait for each other where all are asked: about once a second, by
  // numbers that all of them have.
  int64_t untilAsked = 0, since = 0;
  Clock::time_point last = Clock::now();
  for (int64_t pass = 0; pass < passes; ++pass, --untilAsked, ++since) {
    if (untilAsked == 0) {
      std::chrono::duration<double> seconds = Clock::now() - last;
      std::array<double, 2> sums = {stop && stop() ? 1.0 : 0.0,
                                    seconds.count() / theComm.size()};
      SMP_RETURN_IF_ERROR(sumOverWorld(sums, step));
      if (sums[0] > 0)
        return false;
      untilAsked = std::max<int64_t>(
          1, static_cast<int64_t>(double(since) / std::max(sums[1], 1e-3)));
      since = 0;
      last = Clock::now();
      setPhase("evaluation", step);
    }
    SMP_RETURN_IF_ERROR(runEvaluation(step, pass));
  }
  return true;
}

Result<std::optional<double>> Session::evaluate(int64_t step, bool (*stop)()) {
  setPhase("evaluation", step);
  int64_t rows = evaluationRows();
  int64_t passes = (evaluationSize + rows - 1) / rows;
  std::vector<std::string> terms = evaluationTerms(theJob);
  std::vector<std::string> names; // of each term's sum and count
  for (const std::string &term : terms)
    for (std::string_view prefix : {sumPrefix, countPrefix})
      names.push_back(std::string(prefix) + term);
  for (const std::string &name : names)
    if (const std::byte *value = scalar(name))
      std::memset(const_cast<std::byte *>(value), 0, sizeof(double));
  SMP_ASSIGN_OR_RETURN(bool complete, runPasses(step, passes, stop));
  if (!complete)
    return std::optional<double>();
  std::vector<double> values(names.size());
  for (size_t i = 0; i < names.size(); ++i)
    if (const std::byte *value = scalar(names[i]))
      std::memcpy(&values[i], value, sizeof(double));
  SMP_RETURN_IF_ERROR(sumOverWorld(values, step));
  double loss = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    bool isMean = theJob.scalars.count(names[2 * i + 1]);
    if (isMean && values[2 * i + 1] == 0)
      return Error{"expects at least one sample with a valid label to "
                   "evaluate '" +
                   terms[i] + "', got none"};
    loss += isMean ? values[2 * i] / values[2 * i + 1] : values[2 * i];
  }
  return std::optional(loss);
}

Status Session::checkStates(int64_t step) {
  Status status;
  for (const StateTensor &state : theJob.states) {
    auto place = state.location.find(ppRank());
    if (state.type != DataType::F32 || place == state.location.end())
      continue;
    const BufferRef &ref = place->second;
    std::span values(reinterpret_cast<const float *>(arenas->at(ref)),
                     size_t(ref.bytes) / sizeof(float));
    if (!std::ranges::all_of(values,
                             [](float value) { return std::isfinite(value); }))
      status =
          Error{"step " + std::to_string(step) + " expects finite values of '" +
                    state.name + "', which no later step mends, got others",
                "look for values in the data that are not finite; resume "
                "from the last checkpoint"};
  }
  return agree(theComm, status);
}
