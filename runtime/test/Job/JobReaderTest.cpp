//===- JobReaderTest.cpp - Valid and damaged job folders ------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Job/JobReader.h"
#include "Fixtures/RegressionJob.h"

#include <fstream>
#include <functional>
#include <gtest/gtest.h>

using namespace smp;
using namespace smp::runtime;
using namespace smp::runtime::test;
using nlohmann::json;

namespace {

/// Reads a whole job, every rank.
Status readAll(const std::string &folder) {
  Result<Job> job = readJob(folder);
  if (!job)
    return job.error();
  SMP_RETURN_IF_ERROR(checkJobHash(*job));
  for (unsigned rank = 0; rank < job->pp; ++rank)
    SMP_RETURN_IF_ERROR(readRankJob(*job, rank));
  return {};
}

/// The error after `damage` was done to a file of a two-stage job.
std::string errorAfter(const std::string &file,
                       const std::function<void(json &)> &damage) {
  RegressionShape shape;
  shape.pp = 2;
  JobFiles files = makeRegressionJob(shape);
  damage(files[file]);
  Status status = readAll(writeJob(files, "damaged"));
  return status ? "" : status.error().message;
}

void expectError(const std::string &file,
                 const std::function<void(json &)> &damage,
                 const std::string &path, const std::string &text) {
  std::string error = errorAfter(file, damage);
  EXPECT_NE(error.find(file + "': at '" + path + "': "), std::string::npos)
      << error;
  EXPECT_NE(error.find(text), std::string::npos) << error;
}

} // namespace

TEST(JobReaderTest, ReadsValidJobs) {
  for (unsigned pp : {1u, 2u}) {
    RegressionShape shape;
    shape.pp = pp;
    std::string folder = writeJob(makeRegressionJob(shape), "valid");
    Status status = readAll(folder);
    EXPECT_TRUE(bool(status)) << status.error().str();
    Result<Job> job = readJob(folder);
    ASSERT_TRUE(bool(job));
    EXPECT_EQ(job->parameters.size(), 2u);
    EXPECT_EQ(job->inputs[1].spec.role, InputRole::Label);
    EXPECT_EQ(job->inputs[1].spec.rowShape, std::vector<int64_t>{3});
    EXPECT_EQ(job->config.optimizer.momentum, 0.9);
    Result<RankJob> rank = readRankJob(*job, pp - 1);
    ASSERT_TRUE(bool(rank));
    EXPECT_EQ(rank->programs.size(), pp == 1 ? 11u : 7u);
    EXPECT_EQ(rank->predict.actions.size(), pp == 1 ? 3u : 2u);
  }
}

TEST(JobReaderTest, NamesFileAndPathOfBadManifests) {
  expectError(
      "job.json", [](json &j) { j["version"] = "2.0"; }, "version",
      "expects a version '1.<minor>' of the job format, got \"2.0\"");
  expectError(
      "job.json", [](json &j) { j["axes"]["pp"] = true; }, "axes.pp",
      "expects an integer from 1 to");
  expectError(
      "job.json", [](json &j) { j["ranks"].erase(1); }, "ranks",
      "one entry per pipeline rank (2), got 1");
  expectError(
      "job.json", [](json &j) { j["ranks"][0]["arenas"][0]["stride"] = 100; },
      "ranks[0].arenas[0].stride", "a multiple of 256, got 100");
  expectError(
      "job.json", [](json &j) { j["ranks"][1]["peak_bytes"] = 1; },
      "ranks[1].peak_bytes", "the sum over the arenas");
  expectError(
      "job.json",
      [](json &j) {
        j["parameters"][0]["location"]["0"]["parameter"]["offset"] = 1 << 20;
      },
      "parameters[0].location.0.parameter", "expects a range inside");
  expectError(
      "job.json", [](json &j) { j["parameters"][1]["shape"] = {5, -3}; },
      "parameters[1].shape[1]", "an integer of at least 0, got -3");
  expectError(
      "job.json", [](json &j) { j["config"]["pipelin"] = 1; }, "config",
      "pipelin");
  expectError(
      "job.json", [](json &j) { j["chunks"][1]["rank"] = 7; }, "chunks[1].rank",
      "the index of a pipeline rank (there are 2)");
}

namespace {

/// Says that the schedules use `bytes` of the arena of a name, on rank 0.
std::function<void(json &)> usedOf(const std::string &name,
                                   std::array<int64_t, 3> bytes) {
  return [=](json &j) {
    for (json &arena : j["ranks"][0]["arenas"])
      if (arena["name"] == name)
        arena["used"] = {
            {"train", bytes[0]}, {"evaluate", bytes[1]}, {"predict", bytes[2]}};
  };
}

} // namespace

TEST(JobReaderTest, ReadsWhatSchedulesUse) {
  RegressionShape shape;
  shape.pp = 2;
  JobFiles files = makeRegressionJob(shape);
  usedOf("dw1", {256, 0, 0})(files["job.json"]);
  std::string folder = writeJob(files, "used");
  Status status = readAll(folder);
  EXPECT_TRUE(bool(status)) << status.error().str();
  Result<Job> job = readJob(folder);
  ASSERT_TRUE(bool(job));
  const RankMemory &memory = job->ranks[0];
  EXPECT_EQ(memory.bytes({true, true, true}), memory.peakBytes);
  EXPECT_EQ(memory.bytes({false, true, true}), memory.peakBytes - 256);
}

TEST(JobReaderTest, NamesWhatIsWrongWithUsedMemory) {
  expectError("job.json", usedOf("w1", {256, 256, 256}),
              "ranks[0].arenas[0].used",
              "expects an arena that only schedules fill, got one of kind "
              "'parameters'");
  expectError("job.json", usedOf("dw1", {100, 0, 0}),
              "ranks[0].arenas[1].used.train", "a multiple of 256, got 100");
  expectError("job.json", usedOf("dw1", {1 << 20, 0, 0}),
              "ranks[0].arenas[1].used.train", "an integer from 0 to 256");
  // Where the gradient of a parameter lies, and what loads and launches touch.
  expectError("job.json", usedOf("dw1", {0, 0, 0}),
              "parameters[0].location.0.gradients.w1.weight",
              "inside the 0 bytes of arena 'dw1'");
  EXPECT_NE(errorAfter("job.json", usedOf("x", {0, 0, 0}))
                .find("rank-0.json': at 'schedules.train': expects accesses "
                      "within the 0 bytes that it uses of arena 'x', got one "
                      "up to 256"),
            std::string::npos);
}

namespace {

/// A forward convolution of 2 images [1, 3, 5] in the memory of command 0.
json convolution(const json &command) {
  auto place = [&](int64_t offset, int64_t bytes) {
    return json{{"a", command["writes"][0]["a"]},
                {"o", offset},
                {"n", bytes},
                {"s", command["writes"][0].value("s", false)}};
  };
  json result = {{"id", command["id"]}, {"kind", "convolution"},
                 {"queue", "compute"},  {"waits", json::array()},
                 {"pass", "forward"},   {"rows", 1},
                 {"groups", 1},         {"input", {1, 1, 3}},
                 {"output", {1, 1, 2}}, {"kernel", {1, 2}},
                 {"stride", {1, 1}},    {"padding", {0, 0}},
                 {"dilation", {1, 1}},  {"tiles", 1},
                 {"a", place(0, 12)},   {"b", place(12, 8)},
                 {"c", place(20, 8)},   {"scratch", place(0, 0)}};
  result["reads"] = {result["a"], result["b"]};
  result["writes"] = {result["c"]};
  return result;
}

void expectConvolutionError(const std::function<void(json &)> &damage,
                            const std::string &member,
                            const std::string &text) {
  expectError(
      "chunk-0.json",
      [&](json &j) {
        json &command = j["programs"]["forward"]["commands"][0];
        command = convolution(command);
        damage(command);
      },
      "programs.forward.commands[0]" + member, text);
}

} // namespace

TEST(JobReaderTest, ReadsConvolutions) {
  EXPECT_EQ(errorAfter("chunk-0.json",
                       [](json &j) {
                         json &command =
                             j["programs"]["forward"]["commands"][0];
                         command = convolution(command);
                       }),
            "");
}

TEST(JobReaderTest, NamesWhatIsWrongWithConvolutions) {
  expectConvolutionError([](json &c) { c["pass"] = "sideways"; }, ".pass",
                         "'backward_data'");
  expectConvolutionError([](json &c) { c["input"] = {1, 3}; }, ".input",
                         "expects 3 numbers");
  expectConvolutionError([](json &c) { c["input"][2] = 1 << 21; }, ".input",
                         "at most 1048576");
  expectConvolutionError([](json &c) { c["stride"][1] = 0; }, ".stride[1]",
                         "an integer of at least 1, got 0");
  expectConvolutionError([](json &c) { c["groups"] = 2; }, ".groups",
                         "a divisor of the channels");
  expectConvolutionError([](json &c) { c["tiles"] = 2; }, ".tiles",
                         "a divisor of the rows");
  expectConvolutionError([](json &c) { c["padding"][1] = 1; }, ".output",
                         "as many places as the input has windows");
  expectConvolutionError([](json &c) { c["dilation"][1] = 9; }, ".output",
                         "as many places as the input has windows");
  expectConvolutionError(
      [](json &c) { c["a"]["n"] = 8; }, ".a",
      "expects the 12 bytes of its images or kernels, got 8");
  expectConvolutionError([](json &c) { c["b"]["n"] = 12; }, ".b",
                         "expects the 8 bytes");
  expectConvolutionError([](json &c) { c["scratch"]["n"] = 4; }, ".scratch",
                         "64-byte aligned memory for each tile");
  expectConvolutionError([](json &c) { c["writes"] = json::array(); }, ".c",
                         "that the command's 'writes' cover");
}

TEST(JobReaderTest, NamesFileAndPathOfBadPrograms) {
  auto command = [](json &j, const char *program, int id) -> json & {
    return j["programs"][program]["commands"][id];
  };
  expectError(
      "chunk-1.json", [&](json &j) { command(j, "forward", 1)["waits"] = {1}; },
      "programs.forward.commands[1].waits[0]",
      "the index of an earlier command");
  expectError(
      "chunk-1.json", [&](json &j) { command(j, "forward", 1)["kernel"] = 5; },
      "programs.forward.commands[1].kernel", "(there are 5), got 5");
  expectError(
      "chunk-0.json", [&](json &j) { command(j, "forward", 0)["m"] = 5; },
      "programs.forward.commands[0].a", "expects at least 120 bytes");
  expectError(
      "chunk-0.json", [&](json &j) { command(j, "forward", 0)["ldc"] = 4; },
      "programs.forward.commands[0].c", "a leading dimension");
  expectError(
      "chunk-0.json",
      [&](json &j) { command(j, "backward", 0)["reads"].erase(2); },
      "programs.backward.commands[0].c", "that the command's 'reads' cover");
  expectError(
      "rank-0.json",
      [&](json &j) { command(j, "update", 0)["queue"] = "group:9"; },
      "programs.update.commands[0].queue", "'group:<index>'");
  expectError(
      "rank-0.json", [&](json &j) { command(j, "update", 0)["count"] = 31; },
      "programs.update.commands[0].count", "at most the 120 bytes");
  expectError(
      "chunk-0.json",
      [&](json &j) { command(j, "forward", 1)["buffers"][0]["n"] = 1 << 30; },
      "programs.forward.commands[1].buffers[0]", "expects a range inside");
}

TEST(JobReaderTest, NamesFileAndPathOfBadSchedules) {
  auto action = [](json &j, int id) -> json & {
    return j["schedules"]["train"][id];
  };
  expectError(
      "rank-0.json", [&](json &j) { action(j, 4)["chunk"] = 1; },
      "schedules.train[4].program",
      "a program of chunk 1, which this rank must own");
  expectError(
      "rank-0.json", [&](json &j) { action(j, 4)["slots"].clear(); },
      "schedules.train[4]", "expects a slot of arena");
  expectError(
      "rank-0.json", [&](json &j) { action(j, 5)["peer"] = 0; },
      "schedules.train[5].peer", "another pipeline rank");
  expectError(
      "rank-0.json", [&](json &j) { action(j, 0)["slot"] = 3; },
      "schedules.train[0].slot", "an integer from 0 to 2, got 3");
  expectError(
      "rank-0.json", [&](json &j) { action(j, 0)["input"] = 1; },
      "schedules.train[0].input", "an input that this rank consumes");
  expectError(
      "rank-1.json", [&](json &j) { action(j, 2)["id"] = 9; },
      "schedules.train[2].id", "its position 2");
}

TEST(JobReaderTest, RefusesWhatIsNotAJob) {
  EXPECT_NE(readJob("/nowhere").error().message.find("/nowhere/job.json"),
            std::string::npos);
  std::string folder = writeJob(makeRegressionJob({}), "text");
  std::ofstream(folder + "/job.json") << "{\"version\": ";
  EXPECT_NE(readJob(folder).error().message.find("malformed"),
            std::string::npos);
  std::ofstream(folder + "/job.json") << std::string(100000, '[');
  EXPECT_FALSE(bool(readJob(folder)));
}

TEST(JobReaderTest, FindsChangedFilesByHash) {
  std::string folder = writeJob(makeRegressionJob({}), "changed");
  std::ofstream(folder + "/chunk-0.json", std::ios::app) << " ";
  Result<Job> job = readJob(folder);
  ASSERT_TRUE(bool(job));
  Status status = checkJobHash(*job);
  ASSERT_FALSE(bool(status));
  EXPECT_NE(status.error().message.find("expects files of hash"),
            std::string::npos);
}

TEST(JobReaderTest, ChecksCpuFeatures) {
  Job job;
  job.directory = "job";
  job.cpuFeatures = {"avx512f", "avx512bf16", "sse4.2", "lzcnt"};
  std::string flags = "fpu abm sse4_2 avx512f avx512_bf16";
  EXPECT_TRUE(bool(checkCpuFeatures(job, &flags)));
  flags = "fpu sse4_2 avx512f";
  Status status = checkCpuFeatures(job, &flags);
  ASSERT_FALSE(bool(status));
  EXPECT_NE(status.error().message.find("'avx512bf16', 'lzcnt'"),
            std::string::npos);
  job.cpuFeatures = {"sse2", "x87"}; // of every 64-bit host
  EXPECT_TRUE(bool(checkCpuFeatures(job)));
  job.cpuFeatures = {"avx9000"};
  EXPECT_FALSE(bool(checkCpuFeatures(job)));
}
