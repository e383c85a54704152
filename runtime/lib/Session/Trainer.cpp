//===- Trainer.cpp - The training loop ------------------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Session/Trainer.h"
#include "ProgressLine.h"

#include <dlfcn.h>

using namespace smp;
using namespace smp::runtime;

/// How a preloaded library, such as a counter of allocations, learns where
/// steps (from 1) begin and end on the calling thread.
using StepListener = void (*)(int64_t step, bool ends);
static StepListener findStepListener() {
  return reinterpret_cast<StepListener>(dlsym(RTLD_DEFAULT, "smpStepListener"));
}

namespace {

class Loop {
public:
  Loop(Session &session, const TrainOptions &options)
      : session(session), options(options),
        progress(options.log, session, options) {}

  Result<TrainSummary> run(int64_t first);

private:
  Status openMetrics();
  Status step(int64_t step);
  Status recordStep(int64_t step, const StepResult &result, double seconds);
  void tell(int64_t step, bool ends) const {
    if (listener)
      listener(step, ends);
  }
  Status evaluate(int64_t step);
  Status save(int64_t steps);
  Status record(MetricsLine &line);

  Session &session;
  const TrainOptions &options;
  ProgressLine progress;
  std::optional<MetricsWriter> metrics;
  StepListener listener = findStepListener();
  TrainSummary summary;
  int64_t saved = -1; ///< steps of the last checkpoint
};

} // namespace

Status Loop::openMetrics() {
  Status status;
  if (session.comm().rank() == 0 && !options.metrics.empty()) {
    auto writer = MetricsWriter::open(options.metrics, options.appendMetrics);
    if (writer)
      metrics.emplace(std::move(*writer));
    else
      status = writer.error();
  }
  return agree(session.comm(), status);
}

Status Loop::record(MetricsLine &line) {
  return metrics ? metrics->write(line) : Status();
}

Status Loop::step(int64_t step) {
  double begin = traceNow();
  bool stop = options.stop && options.stop();
  SMP_ASSIGN_OR_RETURN(StepResult result, session.trainStep(step, stop));
  // Users count steps from 1. All ranks have the same numbers, so all of them
  // fail.
  Status finite = checkFinite(step + 1, result.loss, result.gradientNorm);
  if (!finite && options.onNan == OnNan::Stop)
    return agree(session.comm(), finite);
  if (!finite) {
    SMP_RETURN_IF_ERROR(session.checkStates(step + 1));
    progress.note(finite.error().message +
                  (result.leftOut ? ": its update is left out" : ""));
  }
  double seconds = (traceNow() - begin) * 1e-6;
  summary.steps = step + 1;
  summary.loss = result.loss;
  summary.interrupted = result.interrupted;
  summary.skipped += result.leftOut;
  progress.step(step, session.unitsOf(step), result.loss, seconds);
  return recordStep(step, result, seconds);
}

Status Loop::recordStep(int64_t step, const StepResult &result,
                        double seconds) {
  MetricsLine line;
  line.add("step", step + 1)
      .add("loss", result.loss)
      .add("seconds", seconds)
      .add("learning_rate", session.stepContext().learningRateOf(step))
      .add("samples", session.progressAfter(step + 1).samples)
      .add(session.job().data.tokens ? "tokens_per_second"
                                     : "samples_per_second",
           progress.unitsPerSecond());
  if (result.gradientNorm)
    line.add("gradient_norm", *result.gradientNorm);
  if (result.leftOut)
    line.add("skipped", true);
  return record(line);
}

Status Loop::evaluate(int64_t step) {
  SMP_ASSIGN_OR_RETURN(std::optional<double> loss,
                       session.evaluate(step, options.stop));
  if (!loss) {
    summary.interrupted = true;
    return {};
  }
  summary.evalLoss = loss;
  char text[96];
  std::snprintf(text, sizeof text, "step %lld  evaluation loss %.4f",
                (long long)step, *loss);
  progress.note(text);
  MetricsLine line;
  line.add("step", step).add("eval_loss", *loss);
  return record(line);
}

Status Loop::save(int64_t steps) {
  if (options.checkpointDirectory.empty() || saved == steps)
    return {};
  SMP_RETURN_IF_ERROR(
      session.save(options.checkpointDirectory, session.progressAfter(steps)));
  saved = steps;
  progress.note("step " + std::to_string(steps) + "  saved to '" +
                options.checkpointDirectory + "/step-" + std::to_string(steps) +
                "_partial'");
  return {};
}

Result<TrainSummary> Loop::run(int64_t first) {
  SMP_RETURN_IF_ERROR(openMetrics());
  summary.steps = first;
  int64_t evaluated = -1;
  for (int64_t i = first; i < options.steps && !summary.interrupted; ++i) {
    tell(i + 1, /*ends=*/false);
    SMP_RETURN_IF_ERROR(step(i));
    tell(i + 1, /*ends=*/true);
    if (options.evaluates && options.evalEvery > 0 &&
        (i + 1) % options.evalEvery == 0) {
      SMP_RETURN_IF_ERROR(evaluate(i + 1));
      evaluated = i + 1;
    }
    if (options.saveEvery > 0 && (i + 1) % options.saveEvery == 0)
      SMP_RETURN_IF_ERROR(save(i + 1));
  }
  if (summary.steps > first)
    SMP_RETURN_IF_ERROR(save(summary.steps));
  if (options.evaluates && evaluated != summary.steps && !summary.interrupted)
    SMP_RETURN_IF_ERROR(evaluate(summary.steps));
  progress.finish();
  return summary;
}

Result<TrainSummary>
runtime::train(Session &session, const TrainOptions &options, int64_t first) {
  return Loop(session, options).run(first);
}
