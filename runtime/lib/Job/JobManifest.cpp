//===- JobManifest.cpp - Read and check job.json --------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JobParts.h"
#include "smp/runtime/Job/JobReader.h"

#include <set>

using namespace smp;
using namespace smp::runtime;

/// Strides and slots stay so small that their product never overflows.
static constexpr int64_t strideLimit = int64_t(1) << 42;
static constexpr int64_t slotLimit = int64_t(1) << 16;

static JobGroup readGroup(const JsonCursor &cursor, const Job &job) {
  JobGroup group;
  group.name = cursor["name"].text();
  for (const JsonCursor &each : cursor["axes"].elements()) {
    AxisGroup::Member member{Axis(each.choice({"pp", "tp", "rdp"})), {}};
    std::string axis(axisName(member.axis));
    if (cursor.has("members") && cursor["members"].has(axis.c_str()))
      for (const JsonCursor &coordinate :
           cursor["members"][axis.c_str()].elements())
        member.coordinates.push_back(
            int(coordinate.integer(0, member.axis == Axis::PP   ? job.pp - 1
                                      : member.axis == Axis::TP ? job.tp - 1
                                                                : 1 << 20)));
    group.axes.axes.push_back(member);
  }
  return group;
}

/// Parameters, states and the like are there before the first schedule runs.
static std::array<int64_t, 3> readUsed(const JsonCursor &cursor,
                                       const Arena &arena) {
  static const std::set<std::string> kinds = {
      "gradients", "optimizer", "input", "stash", "boundary", "workspace"};
  if (!kinds.count(arena.kind) || arena.constants)
    cursor.fail("expects an arena that only schedules fill, got one of kind '" +
                arena.kind + "'");
  std::array<int64_t, 3> used = {};
  for (auto [bytes, schedule] : {std::pair(&used[0], "train"),
                                 {&used[1], "evaluate"},
                                 {&used[2], "predict"}}) {
    *bytes = cursor[schedule].integer(0, arena.bytes());
    if (*bytes % 256)
      cursor[schedule].expects("a multiple of 256");
  }
  return used;
}

static Arena readArena(const JsonCursor &cursor) {
  Arena arena;
  arena.name = cursor["name"].text();
  cursor["kind"].choice({"parameters", "gradients", "optimizer", "state",
                         "packed", "constants", "input", "stash", "boundary",
                         "workspace", "scalars"});
  arena.kind = cursor["kind"].text();
  arena.stride = cursor["stride"].integer(0, strideLimit);
  arena.slots = cursor["slots"].integer(1, slotLimit);
  if (arena.stride % 256)
    cursor["stride"].expects("a multiple of 256");
  if (cursor.has("constants")) {
    JsonCursor constants = cursor["constants"];
    arena.constants = {constants["offset"].integer(),
                       constants["bytes"].integer()};
    if (arena.constants->second > arena.stride * arena.slots)
      constants["bytes"].expects("at most the arena's " +
                                 std::to_string(arena.stride * arena.slots) +
                                 " bytes");
  }
  if (cursor.has("used"))
    arena.used = readUsed(cursor["used"], arena);
  return arena;
}

static RankMemory readRankMemory(const JsonCursor &cursor, unsigned rank,
                                 const Job &job) {
  RankMemory memory;
  int64_t sum = 0;
  for (const JsonCursor &each : cursor["arenas"].elements()) {
    memory.arenas.push_back(readArena(each));
    const Arena &arena = memory.arenas.back();
    if (__builtin_add_overflow(sum, arena.stride * arena.slots, &sum))
      each.fail("expects arenas that fit an address space, got too many");
  }
  if (memory.arenas.empty())
    cursor["arenas"].fail("expects at least one arena, got none");
  memory.peakBytes = cursor["peak_bytes"].integer();
  if (memory.peakBytes != sum)
    cursor["peak_bytes"].expects("the sum over the arenas, " +
                                 std::to_string(sum));
  for (const JsonCursor &each : cursor["chunks"].elements()) {
    unsigned chunk = each.index(job.chunkRank.size(), "a chunk");
    memory.chunks.push_back(chunk);
    if (chunk < job.chunkRank.size() && job.chunkRank[chunk] != rank)
      each.expects("a chunk whose 'rank' is " + std::to_string(rank));
  }
  return memory;
}

static Config readConfig(const JsonCursor &cursor) {
  auto parsed = parseConfig(cursor.dump());
  if (parsed)
    return parsed->config;
  cursor.fail(parsed.error().message);
  return {};
}

static DataFormat readDataFormat(const JsonCursor &cursor) {
  DataFormat data;
  data.tokens = cursor["kind"].choice({"arrays", "tokens"}) == 1;
  if (data.tokens)
    data.convention =
        TokenConvention(cursor["convention"].choice({"hf", "next-token"}));
  if (cursor.has("vocabulary"))
    data.vocabulary = cursor["vocabulary"].integer(1);
  return data;
}

static void readCounts(const JsonCursor &root, Job &job) {
  constexpr int64_t countLimit = 1 << 20;
  job.pp = unsigned(root["axes"]["pp"].integer(1, countLimit));
  job.tp = unsigned(root["axes"]["tp"].integer(1, countLimit));
  job.placement = root["placement"].text();
  job.microbatches = root["microbatches"].integer(1, countLimit);
  job.microbatchRows = root["microbatch_rows"].integer(1, countLimit);
  job.accumulation = root["accumulation"].integer(1, countLimit);
  if (!canonicalPlacement(job.placement))
    root["placement"].expects("'cluster', 'spread' or a permutation of 'DPT'");
  job.config = readConfig(root["config"]);
}

static void readManifest(const JsonCursor &root, Job &job) {
  job.version = root["version"].text();
  job.model = root["model"].text();
  job.hash = root["hash"].text();
  readCounts(root, job);
  job.cpuFeatures = root["cpu_features"].texts();
  job.kernelFile = root["kernels"]["file"].text();
  if (job.kernelFile.find('/') != std::string::npos)
    root["kernels"]["file"].expects("the name of a file of the job folder");
  job.kernelSymbols = root["kernels"]["symbols"].texts();
  for (const JsonCursor &each : root["groups"].elements())
    job.groups.push_back(readGroup(each, job));
  for (const JsonCursor &each : root["chunks"].elements())
    job.chunkRank.push_back(each["rank"].index(job.pp, "a pipeline rank"));
  for (const JsonCursor &each : root["ranks"].elements())
    job.ranks.push_back(readRankMemory(each, unsigned(job.ranks.size()), job));
  if (job.ranks.size() != job.pp)
    root["ranks"].fail("expects one entry per pipeline rank (" +
                       std::to_string(job.pp) + "), got " +
                       std::to_string(job.ranks.size()));
  job.data = readDataFormat(root["data"]);
  if (root.has("needs_init"))
    job.needsInit = root["needs_init"].boolean();
  if (root.has("flops_per_step"))
    job.flopsPerStep = root["flops_per_step"].number();
}

Result<Job> runtime::readJob(const std::string &directory) {
  Job job;
  job.directory = directory;
  auto read = JsonDocument::read(directory + "/job.json");
  if (!read)
    return Error{read.error().message,
                 read.error().note.empty()
                     ? "a job is a folder that smp-compile writes with -o"
                     : read.error().note};
  std::unique_ptr<JsonDocument> document = std::move(*read);
  JsonCursor root = document->root();
  checkVersion(root);
  SMP_RETURN_IF_ERROR(document->status());
  readManifest(root, job);
  SMP_RETURN_IF_ERROR(document->status());
  readTensors(root, job);
  SMP_RETURN_IF_ERROR(document->status());
  return job;
}
