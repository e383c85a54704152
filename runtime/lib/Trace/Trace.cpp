//===- Trace.cpp - Timelines and metrics ----------------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Trace/Trace.h"
#include "smp/Support/Json.h"
#include "smp/Support/MappedFile.h"
#include <algorithm>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace smp;
using namespace smp::runtime;
using nlohmann::json;

double runtime::traceNow() {
  using std::chrono::duration;
  // Steady within the process, but from the wall clock's zero, so that the
  // ranks' timelines lie over each other.
  static const double offset =
      duration<double, std::micro>(
          std::chrono::system_clock::now().time_since_epoch())
          .count() -
      duration<double, std::micro>(
          std::chrono::steady_clock::now().time_since_epoch())
          .count();
  return offset + duration<double, std::micro>(
                      std::chrono::steady_clock::now().time_since_epoch())
                      .count();
}

void Trace::add(TraceEvent event) {
  std::scoped_lock lock(mutex);
  events.push_back(std::move(event));
}

static json metadata(int rank, int track, const char *what,
                     const std::string &name) {
  return {{"ph", "M"},
          {"pid", rank},
          {"tid", track},
          {"name", what},
          {"args", {{"name", name}}}};
}

static json toJson(const TraceEvent &event, int rank, int track) {
  json arguments = json::object();
  for (auto [name, value] :
       {std::pair("command", event.command), std::pair("action", event.action),
        std::pair("step", event.step),
        std::pair("microbatch", event.microbatch)})
    if (value >= 0)
      arguments[name] = value;
  if (!event.location.empty())
    arguments["location"] = event.location;
  return {{"ph", "X"},          {"pid", rank},
          {"tid", track},       {"name", event.name},
          {"ts", event.begin},  {"dur", event.end - event.begin},
          {"cat", event.track}, {"args", std::move(arguments)}};
}

std::string Trace::fragment() const {
  std::scoped_lock lock(mutex);
  std::string text;
  auto append = [&](const json &entry) {
    text += (text.empty() ? "" : ",\n") +
            entry.dump(-1, ' ', false, json::error_handler_t::replace);
  };
  append(metadata(rank, 0, "process_name",
                  label.empty() ? "rank " + std::to_string(rank) : label));
  std::map<std::string, int> tracks;
  for (const TraceEvent &event : events)
    tracks.emplace(event.track, 0);
  int number = 0;
  for (auto &[name, track] : tracks) {
    track = ++number;
    append(metadata(rank, track, "thread_name", name));
  }
  for (const TraceEvent &event : events)
    append(toJson(event, rank, tracks[event.track]));
  return text;
}

Status runtime::writeTrace(Comm &comm, const Trace &trace,
                           const std::string &path) {
  SMP_ASSIGN_OR_RETURN(std::vector<std::string> fragments,
                       comm.allGatherObjects(comm.world(), trace.fragment()));
  std::string outcome;
  if (comm.rank() == 0) {
    std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
    for (size_t i = 0; i < fragments.size(); ++i)
      text += (i ? ",\n" : "") + fragments[i];
    Status written = writeFileAtomically(path, text + "\n]}\n");
    outcome = written ? "" : written.error().message;
  }
  SMP_ASSIGN_OR_RETURN(outcome, comm.broadcastObject(comm.world(), outcome, 0));
  if (!outcome.empty())
    return Error{outcome};
  return {};
}

Result<MetricsWriter> MetricsWriter::open(const std::string &path,
                                          bool append) {
  std::FILE *file = std::fopen(path.c_str(), "ae");
  auto failure = [&](const char *verb) {
    return Error{std::string("cannot ") + verb + " '" + path +
                 "': " + std::strerror(errno)};
  };
  if (!file)
    return failure("open");
  MetricsWriter writer(file);
  struct stat status;
  if (fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode))
    return writer;
  // Of what another run writes nothing is lost, nor mixed with our lines. File
  // systems without locks go without this.
  if (flock(fileno(file), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return Error{"option '--metrics' expects a file that no other run is "
                 "writing, got '" +
                     path + "'",
                 "name another file, or wait for that run to end"};
  if (!append && ftruncate(fileno(file), 0) != 0)
    return failure("write");
  return writer;
}

MetricsWriter::~MetricsWriter() {
  if (file)
    std::fclose(file);
}

void MetricsLine::append(std::string_view text) {
  assert(length + text.size() < buffer.size() - 2 && "a line has few numbers");
  std::ranges::copy(text, buffer.begin() + length);
  length += text.size();
}

void MetricsLine::begin(std::string_view name) {
  append(length == 0 ? "{\"" : ",\"");
  append(name);
  append("\":");
}

MetricsLine &MetricsLine::add(std::string_view name, double value) {
  begin(name);
  char digits[32];
  char *end = std::to_chars(digits, std::end(digits), value).ptr;
  std::string_view number(digits, size_t(end - digits));
  append(std::isfinite(value) ? number : "null");
  // As Python and others tell floating numbers from integers.
  if (std::isfinite(value) && number.find_first_of(".e") == number.npos)
    append(".0");
  return *this;
}

MetricsLine &MetricsLine::add(std::string_view name, int64_t value) {
  begin(name);
  char digits[32];
  char *end = std::to_chars(digits, std::end(digits), value).ptr;
  append({digits, size_t(end - digits)});
  return *this;
}

MetricsLine &MetricsLine::add(std::string_view name, bool value) {
  begin(name);
  append(value ? "true" : "false");
  return *this;
}

std::string_view MetricsLine::text() {
  if (length == 0)
    append("{");
  if (buffer[length - 1] != '\n') {
    buffer[length++] = '}';
    buffer[length++] = '\n';
  }
  return {buffer.data(), length};
}

Status MetricsWriter::write(MetricsLine &object) {
  std::string_view line = object.text();
  if (std::fwrite(line.data(), 1, line.size(), file) != line.size() ||
      std::fflush(file) != 0)
    return Error{std::string("cannot write metrics: ") + std::strerror(errno)};
  return {};
}
