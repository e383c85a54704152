//===- SessionSteps.cpp - Training steps and evaluation -------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Session/Session.h"

#include <algorithm>
#include <cstring>

using namespace smp;
using namespace smp::runtime;

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
  return agree(theComm, status);
}

/// Whether some input tells padded rows from real ones.
static bool hasRowWeights(const Job &job) {
  return std::ranges::any_of(job.inputs, [](const Input &input) {
    return input.spec.role == InputRole::RowWeight;
  });
}

Status Session::openEvaluationData(const std::string &path) {
  Status status;
  if (!theJob.scalars.count("eval_sum") || !theJob.scalars.count("eval_count"))
    status = Error{"expects a job with an evaluation program, got one without"};
  if (status && consumesInputs(rankJob.evaluate)) {
    auto opened = openData(path);
    if (opened)
      evaluation = std::move(*opened);
    else
      status = opened.error();
  }
  int64_t rows = context.owners * context.microbatches * context.rows;
  if (status && evaluation && evaluation->size() % rows != 0 &&
      !hasRowWeights(theJob) && !theJob.config.dropLast)
    status =
        Error{"'" + path + "': expects a multiple of " + std::to_string(rows) +
                  " samples, got " + std::to_string(evaluation->size()) +
                  ": this model's loss cannot leave out padded rows",
              "compile with 'drop_last' to leave out the last batch"};
  return agree(theComm, status);
}

void Session::setProgress(const Progress &progress) {
  sampleBase = progress.samples - progress.step * context.samplesPerStep();
  context.seed = progress.seed;
}

Progress Session::progressAfter(int64_t step) const {
  return {step, sampleBase + step * context.samplesPerStep(), context.seed};
}

Result<StepResult> Session::trainStep(int64_t step, bool interrupted) {
  StepInput input;
  input.step = step;
  input.state = [&](int64_t microbatch) {
    StepState state = context.state(step, microbatch);
    state.sampleOffset += sampleBase;
    return state;
  };
  input.load = [&](const LoadAction &load, int64_t microbatch, void *rows) {
    std::vector<Sample> samples;
    samples.reserve(size_t(context.rows));
    int64_t first = sampleBase + context.sampleOffset(step, microbatch);
    for (int64_t row = 0; row < context.rows; ++row)
      samples.push_back(trainingOrder->at(first + row));
    return training->read(theJob.inputs[load.input].spec, samples, rows);
  };
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
  SMP_RETURN_IF_ERROR(sumOverWorld(values));
  StepResult result;
  result.loss = values[0];
  if (theJob.scalars.count("grad_norm"))
    result.gradientNorm = values[1];
  result.interrupted = values[2] > 0;
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
    StepState state = context.state(step, microbatch);
    state.sampleOffset = firstSample(microbatch);
    return state;
  };
  input.load = [&](const LoadAction &load, int64_t microbatch, void *rows) {
    std::vector<Sample> samples;
    for (int64_t row = 0; row < context.rows; ++row) {
      int64_t index = firstSample(microbatch) + row;
      bool exists = index < evaluation->size();
      samples.push_back(exists ? Sample{index, -1} : Sample{});
    }
    return evaluation->read(theJob.inputs[load.input].spec, samples, rows);
  };
  return executor->run(rankJob.evaluate, input);
}

Result<double> Session::evaluate(int64_t step) {
  // Only ranks that read inputs know the size of the file.
  int64_t samples = evaluation ? evaluation->size() : 0;
  SMP_ASSIGN_OR_RETURN(
      std::vector<std::string> sizes,
      theComm.allGatherObjects(theComm.world(), std::to_string(samples)));
  for (const std::string &text : sizes)
    samples = std::max<int64_t>(samples, std::stoll(text));
  int64_t rows = context.owners * context.microbatches * context.rows;
  int64_t passes =
      theJob.config.dropLast ? samples / rows : (samples + rows - 1) / rows;
  for (const char *name : {"eval_sum", "eval_count"})
    if (const std::byte *value = scalar(name))
      std::memset(const_cast<std::byte *>(value), 0, sizeof(double));
  for (int64_t pass = 0; pass < passes; ++pass)
    SMP_RETURN_IF_ERROR(runEvaluation(step, pass));
  double values[2] = {0, 0};
  if (const std::byte *sum = scalar("eval_sum"))
    std::memcpy(&values[0], sum, sizeof(double));
  if (const std::byte *count = scalar("eval_count"))
    std::memcpy(&values[1], count, sizeof(double));
  SMP_RETURN_IF_ERROR(sumOverWorld(values));
  if (values[1] == 0)
    return Error{"expects at least one sample with a valid label to evaluate, "
                 "got none"};
  return values[0] / values[1];
}
