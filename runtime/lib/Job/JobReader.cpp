//===- JobReader.cpp - Read the programs of a rank, check the folder ------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Job/JobReader.h"
#include "JobParts.h"
#include "smp/Support/Hash.h"
#include "smp/Support/MappedFile.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

using namespace smp;
using namespace smp::runtime;

static void readPrograms(const JsonCursor &root, const char *indexKey,
                         int chunk, const Job &job, RankJob &rankJob,
                         ProgramIndex &index) {
  checkVersion(root);
  int64_t number = chunk < 0 ? rankJob.rank : chunk;
  if (root[indexKey].integer() != number)
    root[indexKey].expects(std::to_string(number));
  for (const auto &[name, value] : root["programs"].members()) {
    index[{chunk, name}] = unsigned(rankJob.programs.size());
    rankJob.programs.push_back(readProgram(value, name, job, rankJob.rank));
  }
}

/// Bytes [0, result) of an arena hold what an action of a schedule touches.
static int64_t endOf(const Operand &operand, int64_t slot, const Arena &arena) {
  return operand.offset + operand.bytes +
         (operand.slotted ? slot * arena.stride : 0);
}

/// The memory of a run has what its schedules use and no more, so they must
/// not reach beyond. Every operand lies inside what a command reads or writes.
static void checkUsed(const JsonCursor &cursor, const Schedule &schedule,
                      const Phases &phase, const RankJob &rankJob,
                      const std::vector<Arena> &arenas) {
  auto check = [&](unsigned arena, int64_t end) {
    if (int64_t limit = arenas[arena].bytes(phase); end > limit)
      cursor.fail("expects accesses within the " + std::to_string(limit) +
                  " bytes that it uses of arena '" + arenas[arena].name +
                  "', got one up to " + std::to_string(end));
  };
  auto checkOperand = [&](const Operand &operand, int64_t slot) {
    check(operand.arena, endOf(operand, slot, arenas[operand.arena]));
  };
  for (const Action &action : schedule.actions) {
    if (auto *transfer = std::get_if<TransferAction>(&action.work))
      checkOperand(transfer->buffer, transfer->slot);
    else if (auto *load = std::get_if<LoadAction>(&action.work))
      check(load->arena, (load->slot + 1) * arenas[load->arena].stride);
    auto *launch = std::get_if<LaunchAction>(&action.work);
    if (!launch)
      continue;
    for (const Command &command : rankJob.programs[launch->program].commands)
      for (const auto *operands : {&command.reads, &command.writes})
        for (const Operand &operand : *operands)
          checkOperand(operand,
                       operand.slotted ? launch->slots.at(operand.arena) : 0);
  }
}

static void readSchedules(const JsonCursor &schedules, const Job &job,
                          RankJob &rankJob, const ProgramIndex &index) {
  rankJob.train = readSchedule(schedules["train"], job, rankJob, index);
  if (schedules.has("evaluate"))
    rankJob.evaluate = readSchedule(schedules["evaluate"], job, rankJob, index);
  if (schedules.has("predict"))
    rankJob.predict = readSchedule(schedules["predict"], job, rankJob, index);
}

static void checkSchedules(const JsonCursor &schedules, const Job &job,
                           const RankJob &rankJob) {
  const std::vector<Arena> &arenas = job.ranks[rankJob.rank].arenas;
  checkUsed(schedules["train"], rankJob.train, {true, false, false}, rankJob,
            arenas);
  if (schedules.has("evaluate"))
    checkUsed(schedules["evaluate"], rankJob.evaluate, {false, true, false},
              rankJob, arenas);
  if (schedules.has("predict"))
    checkUsed(schedules["predict"], rankJob.predict, {false, false, true},
              rankJob, arenas);
}

Result<RankJob> runtime::readRankJob(const Job &job, unsigned rank) {
  RankJob rankJob;
  rankJob.rank = rank;
  ProgramIndex index;
  SMP_ASSIGN_OR_RETURN(std::unique_ptr<JsonDocument> document,
                       JsonDocument::read(job.directory + "/rank-" +
                                          std::to_string(rank) + ".json"));
  readPrograms(document->root(), "rank", -1, job, rankJob, index);
  SMP_RETURN_IF_ERROR(document->status());
  for (unsigned chunk : job.ranks[rank].chunks) {
    SMP_ASSIGN_OR_RETURN(std::unique_ptr<JsonDocument> programs,
                         JsonDocument::read(job.directory + "/chunk-" +
                                            std::to_string(chunk) + ".json"));
    readPrograms(programs->root(), "chunk", int(chunk), job, rankJob, index);
    SMP_RETURN_IF_ERROR(programs->status());
  }
  // Schedules name programs of all of these.
  readSchedules(document->root()["schedules"], job, rankJob, index);
  SMP_RETURN_IF_ERROR(document->status());
  checkSchedules(document->root()["schedules"], job, rankJob);
  SMP_RETURN_IF_ERROR(document->status());
  return rankJob;
}

/// Replaces the digits of the manifest's own hash by zeros.
static void clearOwnHash(std::string &text) {
  size_t at = text.find("\"hash\"");
  if (at == std::string::npos)
    return;
  at = text.find('"', at + 6);
  for (size_t i = at + 1; i < text.size() && text[i] != '"'; ++i)
    text[i] = '0';
}

static bool isHashed(const std::string &name) {
  return name == "job.json" || name == "constants.bin" ||
         name == "kernels.so" || name.starts_with("chunk-") ||
         name.starts_with("rank-");
}

bool runtime::isJobFile(const std::string &name) {
  return isHashed(name) || name == "partition.json";
}

Result<std::string> runtime::hashJobFolder(const std::string &directory) {
  std::error_code error;
  std::set<std::string> names;
  std::filesystem::directory_iterator it(directory, error), end;
  for (; !error && it != end; it.increment(error))
    if (std::string name = it->path().filename(); isHashed(name))
      names.insert(name);
  if (error)
    return Error{"cannot list '" + directory + "': " + error.message()};
  Sha256 all;
  for (const std::string &name : names) {
    SMP_ASSIGN_OR_RETURN(std::string text, readFile(directory + "/" + name));
    if (name == "job.json")
      clearOwnHash(text);
    all.update(sha256(text) + " " + name + "\n");
  }
  return all.finish();
}

Status runtime::checkJobHash(const Job &job) {
  SMP_ASSIGN_OR_RETURN(std::string hash, hashJobFolder(job.directory));
  if (hash == job.hash)
    return {};
  return Error{"'" + job.directory + "': expects files of hash '" + job.hash +
                   "', got '" + hash + "'",
               "a file of the job was changed or is damaged: compile the job "
               "again"};
}

/// A feature under one spelling: LLVM and the kernel differ in separators and
/// in a few names.
static std::string normalize(std::string name) {
  static const std::map<std::string, std::string> aliases = {
      {"lzcnt", "abm"},
      {"bmi", "bmi1"},
      {"sse3", "pni"},
      {"sha", "shani"},
      {"rdrnd", "rdrand"},
      {"sahf", "lahflm"},
      {"x87", "fpu"},
      {"64bit", "lm"},
      {"pclmul", "pclmulqdq"},
      {"crc32", "sse42"},
      {"prfchw", "3dnowprefetch"}};
  std::erase_if(name, [](char c) { return c == '-' || c == '_' || c == '.'; });
  auto it = aliases.find(name);
  return it == aliases.end() ? name : it->second;
}

Status runtime::checkCpuFeatures(const Job &job, const std::string *flags) {
  std::string line;
  if (flags) {
    line = *flags;
  } else {
    // Files of /proc have no size: they cannot be mapped.
    std::ifstream file("/proc/cpuinfo");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    size_t at = text.find("\nflags");
    at = at == std::string::npos ? at : text.find(':', at);
    if (at != std::string::npos)
      line = text.substr(at + 1, text.find('\n', at) - at - 1);
  }
  std::set<std::string> present;
  for (size_t begin = 0; begin < line.size();) {
    size_t end = std::min(line.find(' ', begin), line.size());
    if (end > begin)
      present.insert(normalize(line.substr(begin, end - begin)));
    begin = end + 1;
  }
  std::string missing;
  for (const std::string &feature : job.cpuFeatures)
    if (!present.count(normalize(feature)))
      missing += (missing.empty() ? "'" : ", '") + feature + "'";
  if (missing.empty())
    return {};
  return Error{"the kernels of '" + job.directory + "' expect a CPU with " +
                   missing + ", got one without",
               "compile the job for this machine"};
}
