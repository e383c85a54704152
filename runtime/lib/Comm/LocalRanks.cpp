//===- LocalRanks.cpp - Ranks of this host, as the system sees them -------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LocalRanks.h"
#include "Activity.h"
#include "smp/Support/MappedFile.h"
#include <charconv>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <string>
#include <unistd.h>

using namespace smp;
using namespace smp::runtime;

/// Open MPI and PRRTE, then MPICH, then Slurm.
static constexpr const char *rankNames[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                            "PMI_RANK", "SLURM_PROCID"};
static constexpr const char *sizeNames[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                            "SLURM_NTASKS"};
static constexpr const char *hereNames[] = {"OMPI_COMM_WORLD_LOCAL_SIZE",
                                            "MPI_LOCALNRANKS"};

static int parseCount(std::string_view text) {
  int value = -1;
  auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ec == std::errc() && value >= 0 ? value : -1;
}

template <typename Names> static int fromEnvironment(const Names &names) {
  for (const char *name : names)
    if (const char *text = std::getenv(name))
      return parseCount(text);
  return -1;
}

StartedRank runtime::readStartedRank() {
  return {fromEnvironment(rankNames), fromEnvironment(sizeNames),
          fromEnvironment(hereNames)};
}

/// The rank in an environment as the system shows it, entries ended by zeros.
static int rankIn(const std::string &environment) {
  std::string entries = '\0' + environment;
  for (const char *name : rankNames) {
    std::string begin = std::string(1, '\0') + name + "=";
    if (size_t at = entries.find(begin); at != std::string::npos)
      return parseCount(std::string_view(entries).substr(at + begin.size()));
  }
  return -1;
}

namespace {
struct ProcessStatus {
  std::string name; ///< at most 15 characters
  char state = 0;
  pid_t parent = -1;
};
} // namespace

static std::string pathOf(pid_t process, const char *file) {
  return "/proc/" + std::to_string(process) + "/" + file;
}

static ProcessStatus statusOf(pid_t process) {
  ProcessStatus status;
  Result<std::string> text = readFile(pathOf(process, "stat"));
  // The name comes in parentheses, with any characters.
  size_t name = text ? text->find('(') : std::string::npos,
         end = text ? text->rfind(") ") : std::string::npos;
  if (name >= end || end == std::string::npos || end + 4 > text->size())
    return status;
  status.name = text->substr(name + 1, end - name - 1);
  status.state = (*text)[end + 2];
  status.parent = parseCount(std::string_view(*text).substr(end + 4));
  return status;
}

std::vector<LocalRank> runtime::ranksStartedBy(pid_t parent) {
  std::vector<LocalRank> ranks;
  DIR *processes = opendir("/proc");
  if (!processes)
    return ranks;
  while (const dirent *entry = readdir(processes)) {
    int process = parseCount(entry->d_name);
    if (process <= 0 || statusOf(process).parent != parent)
      continue;
    Result<std::string> environment = readFile(pathOf(process, "environ"));
    if (int rank = environment ? rankIn(*environment) : -1; rank >= 0)
      ranks.push_back({process, rank});
  }
  closedir(processes);
  return ranks;
}

RankState runtime::stateOf(pid_t process, pid_t parent) {
  ProcessStatus status = statusOf(process);
  if (status.parent != parent || status.state == 'Z' || status.state == 'X')
    return RankState::Gone;
  return status.state == 'T' ? RankState::Stopped : RankState::Running;
}

static constexpr const char *lostName = "smp-lost-";
static constexpr const char *stalledName = "smp-stall-";

void runtime::publishLoss(const Loss &loss) {
  Line name;
  name << (loss.isStalled ? stalledName : lostName) << int64_t{loss.rank};
  int descriptor = open("/proc/self/comm", O_WRONLY | O_CLOEXEC);
  if (descriptor < 0)
    return;
  [[maybe_unused]] ssize_t written =
      write(descriptor, name.text().data(), name.text().size());
  close(descriptor);
}

Loss runtime::publishedLoss(pid_t process, pid_t parent) {
  ProcessStatus status = statusOf(process);
  std::string_view name = status.name;
  for (const char *prefix : {lostName, stalledName})
    if (status.parent == parent && name.starts_with(prefix))
      return {parseCount(name.substr(std::string_view(prefix).size())),
              prefix == stalledName};
  return {};
}

pid_t runtime::parentOf(pid_t process) { return statusOf(process).parent; }
