//===- ProgressLine.cpp - How far the training is, for people -------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgressLine.h"

#include <array>
#include <cmath>

using namespace smp;
using namespace smp::runtime;

/// Least seconds between two lines of a log.
static constexpr double logInterval = 5;

ProgressLine::ProgressLine(std::FILE *file, const Session &session,
                           const TrainOptions &options)
    : file(file), terminal(options.terminal),
      unit(session.job().data.tokens ? "tokens" : "samples"),
      flopsPerStep(session.job().flopsPerStep *
                   double(session.stepContext().owners)),
      peakFlops(options.peakFlops), steps(options.steps) {}

double ProgressLine::unitsPerSecond() const {
  return average > 0 ? averageUnits / average : 0;
}

namespace {
/// A piece of the line, in fixed memory: a step asks for none.
using Text = std::array<char, 32>;
} // namespace

/// "1:02:03" or "2:03".
static Text durationText(double seconds) {
  Text text;
  auto whole = std::llround(seconds);
  if (whole >= 3600)
    std::snprintf(text.data(), text.size(), "%lld:%02lld:%02lld", whole / 3600,
                  whole / 60 % 60, whole % 60);
  else
    std::snprintf(text.data(), text.size(), "%lld:%02lld", whole / 60,
                  whole % 60);
  return text;
}

void ProgressLine::step(int64_t step, int64_t units, double loss,
                        double seconds) {
  double weight = average == 0 ? 1 : 0.1;
  average += weight * (seconds - average);
  averageUnits += weight * (double(units) - averageUnits);
  if (!file)
    return;
  double now = traceNow() * 1e-6;
  bool isLast = step + 1 == steps;
  double interval = terminal ? 0.1 : logInterval;
  if (lastLine >= 0 && now - lastLine < interval && !isLast)
    return;
  lastLine = now;
  Text share = {};
  if (peakFlops > 0 && flopsPerStep > 0)
    std::snprintf(share.data(), share.size(), "  %.0f %% of peak FLOP/s",
                  100 * flopsPerStep / average / peakFlops);
  Text left = durationText(average * double(steps - step - 1));
  std::fprintf(file, "%sstep %lld/%lld  loss %.4f  %.0f %s/s%s  %s left%s",
               terminal ? "\r" : "", static_cast<long long>(step) + 1,
               static_cast<long long>(steps), loss, unitsPerSecond(), unit,
               share.data(), left.data(), terminal ? "\033[K" : "\n");
  std::fflush(file);
  open = terminal;
}

void ProgressLine::note(const std::string &text) {
  if (!file)
    return;
  finish();
  std::fprintf(file, "%s\n", text.c_str());
  std::fflush(file);
}

void ProgressLine::finish() {
  if (open)
    std::fprintf(file, "\n");
  open = false;
}
