//===- Trace.h - Timelines and metrics --------------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Timelines are Chrome/Perfetto JSON: a process per rank, a track per queue, an
// event per command, whose id is the one in the job, so that predicted and
// measured timelines can be laid over each other.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_TRACE_TRACE_H
#define SMP_RUNTIME_TRACE_TRACE_H

#include "smp/runtime/Comm/Comm.h"
#include <array>
#include <cstdio>
#include <mutex>

namespace smp::runtime {

/// Microseconds of the host's wall clock, monotonic within the process.
double traceNow();

struct TraceEvent {
  std::string name;  ///< "forward", "recv act.c0-c1", kernel or product
  std::string track; ///< queue
  double begin = 0;  ///< traceNow()
  double end = 0;
  int64_t command = -1; ///< id within its program; -1: an action as a whole
  int64_t action = -1;  ///< id within the schedule
  int64_t step = -1, microbatch = -1;
  std::string location{}; ///< source line
};

/// Collects the events of one rank; any thread may add.
class Trace {
public:
  explicit Trace(int rank, std::string label = "")
      : rank(rank), label(std::move(label)) {}
  void add(TraceEvent event);
  /// The events of this rank as comma-separated JSON objects.
  std::string fragment() const;

private:
  int rank;
  std::string label;
  mutable std::mutex mutex;
  std::vector<TraceEvent> events;
};

/// Gathers the events of all ranks and writes the file from rank 0. All ranks
/// call it, waiting.
Status writeTrace(Comm &comm, const Trace &trace, const std::string &path);

/// One JSON object in fixed memory: a step writes one, and asks for none.
/// Names are plain text. What is no number is null, as JSON has no NaN.
class MetricsLine {
public:
  MetricsLine &add(std::string_view name, double value);
  MetricsLine &add(std::string_view name, int64_t value);
  MetricsLine &add(std::string_view name, bool value);
  /// With its closing brace and the end of the line.
  std::string_view text();

private:
  void append(std::string_view text);
  void begin(std::string_view name);

  std::array<char, 1024> buffer;
  size_t length = 0;
};

/// One JSON object a line, flushed at once.
class MetricsWriter {
public:
  /// `append`: keep what a resumed run wrote before.
  static Result<MetricsWriter> open(const std::string &path, bool append);
  MetricsWriter(MetricsWriter &&other) noexcept : file(other.file) {
    other.file = nullptr;
  }
  ~MetricsWriter();
  Status write(MetricsLine &line);

private:
  explicit MetricsWriter(std::FILE *file) : file(file) {}
  std::FILE *file;
};

} // namespace smp::runtime

#endif // SMP_RUNTIME_TRACE_TRACE_H
