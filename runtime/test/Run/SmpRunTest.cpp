//===- SmpRunTest.cpp - smp-run from the outside --------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures/TemporaryPath.h"
#include "Fixtures/TokenJob.h"
#include "Process.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>

using namespace smp::runtime::test;
using nlohmann::json;

namespace {

struct Finished {
  int code;
  std::string output, errors;
};

Finished smpRun(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), SMP_RUN);
  Process process(arguments);
  int code = process.wait();
  return {code, process.output(), process.errors()};
}

void expectError(std::vector<std::string> arguments, int code,
                 const std::string &text) {
  Finished finished = smpRun(std::move(arguments));
  EXPECT_EQ(finished.code, code) << finished.errors;
  EXPECT_NE(finished.errors.find(text), std::string::npos) << finished.errors;
}

std::string twoStageJob(const std::string &name, double rate = 0.05) {
  RegressionShape shape;
  shape.pp = 2;
  shape.oneByOne = true;
  JobFiles files = makeRegressionJob(shape);
  files["job.json"]["config"]["optimizer"]["lr"] = rate;
  return writeJob(files, name);
}

/// Step and loss of each line of a metrics file.
std::vector<std::pair<int, double>> readLosses(const std::string &path) {
  std::vector<std::pair<int, double>> losses;
  for (const std::string &line : readLines(path)) {
    json object = json::parse(line, nullptr, false);
    if (object.contains("loss"))
      losses.emplace_back(object["step"].get<int>(),
                          object["loss"].get<double>());
  }
  return losses;
}

/// Waits until a metrics file has `count` lines.
bool waitForLines(const std::string &path, size_t count) {
  for (int i = 0; i < 3000; ++i) {
    if (readLines(path).size() >= count)
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

} // namespace

TEST(SmpRunTest, RefusesWrongCommandLines) {
  expectError({"--stpes=3"}, 2, "did you mean '--steps'");
  expectError({"job", "--steps"}, 2, "'--steps' expects a value, got none");
  expectError({"job", "--steps=-1"}, 2,
              "option '--steps' expects an integer from 0 to 2^60, got '-1'");
  for (const char *threads : {"0", "1025"})
    expectError({"job", std::string("--threads=") + threads}, 2,
                "an integer from 1 to 1024, got '" + std::string(threads));
  expectError({"job", "--stall-timeout=2147483647"}, 2,
              "an integer from 1 to 1000000, got '2147483647'");
  expectError({"job", "--seed=18446744073709551616"}, 2,
              "an integer from 0 to 2^64 - 1");
  expectError({"job", "--steps=1", "--prompt=a"}, 2,
              "option '--prompt' expects '--generate', got none");
  expectError({"job", "--generate=1", "--data=a"}, 2,
              "option '--data' expects '--steps', got none");
  expectError({"job", "--steps=1", "--config=smp.json"}, 2,
              "option '--config' expects '--print-ranks', got none");
  expectError({"job", "--print-ranks"}, 2, "got both");
  expectError({"job", "--resume=yes"}, 2, "expects no value, got 'yes'");
  expectError({"job", "--transport=tcp"}, 2, "'mpi' or 'threads', got 'tcp'");
  expectError({"job", "--data-order=sorted"}, 2,
              "'shuffled' or 'file', got 'sorted'");
  expectError({"job", "--on-nan=ignore"}, 2, "'stop' or 'skip', got 'ignore'");
  expectError({"one", "two"}, 2, "expects one job folder");
  expectError({}, 2, "expects a job folder, got none");
  expectError({"job"}, 2, "expects '--steps'");
  expectError({"job", "--steps=1", "--save-every=1"}, 2,
              "expects '--checkpoint-dir', got none");
  expectError({"job", "--steps=1", "--microbatches=2"}, 2, "smp-compile");
  Finished help = smpRun({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_NE(help.output.find("--checkpoint-dir=DIR"), std::string::npos);
}

TEST(SmpRunTest, SaysWhatIsWrongWithJobAndData) {
  expectError({"/nowhere", "--steps=1"}, 1, "cannot open '/nowhere/job.json'");
  expectError({"/nowhere", "--steps=1"}, 1,
              "note: a job is a folder that smp-compile writes with -o");
  std::string job = twoStageJob("wrong");
  expectError({job, "--steps=1"}, 1, "expects '--data' to train, got none");
  expectError({job, "--steps=1", "--ranks=3"}, 1, "got 3 ranks");
  expectError({job, "--steps=1", "--ranks=2000"}, 1,
              "expects at most 1024 ranks on one host, got 2000");
  expectError(
      {job, "--steps=1", "--data=/nowhere.safetensors", "--transport=threads"},
      1, "'/nowhere.safetensors'");
  RegressionShape narrow;
  narrow.inputs = 5;
  expectError({job, "--steps=1", "--transport=threads",
               "--data=" + writeRegressionData(narrow, 9, "narrow")},
              1, "'x'");
  std::ofstream(job + "/rank-1.json", std::ios::app) << "\n";
  expectError({job, "--steps=1", "--data=x", "--transport=threads"}, 1,
              "expects files of hash");
}

TEST(SmpRunTest, KnowsAnotherWorldThanItsOwn) {
  setenv("OMPI_COMM_WORLD_SIZE", "7", 1);
  expectError({twoStageJob("world"), "--steps=1"}, 1,
              "expects the world of OMPI_COMM_WORLD_SIZE, '7' ranks, got 1");
  unsetenv("OMPI_COMM_WORLD_SIZE");
}

TEST(SmpRunTest, StopsAtALossThatIsNoNumber) {
  std::string data = writeRegressionData({}, 48, "nan");
  std::string checkpoints = temporaryPath("nan-checkpoints");
  Finished finished =
      smpRun({twoStageJob("nan", 1e30), "--data=" + data, "--steps=20",
              "--transport=threads", "--checkpoint-dir=" + checkpoints});
  EXPECT_EQ(finished.code, 1);
  EXPECT_NE(finished.errors.find("step "), std::string::npos);
  EXPECT_NE(finished.errors.find("loss"), std::string::npos) << finished.errors;
  EXPECT_FALSE(std::filesystem::exists(checkpoints + "/newest"));
}

TEST(SmpRunTest, ResumesUnderMpirunBitForBit) {
  std::string job = twoStageJob("resumed");
  std::string data = writeRegressionData({}, 48, "resumed");
  std::string checkpoints = temporaryPath("checkpoints");
  auto train = [&](const char *steps, const std::string &metrics,
                   std::vector<std::string> more) {
    more.insert(more.begin(),
                {job, "--ranks=4", "--data=" + data,
                 std::string("--steps=") + steps, "--metrics=" + metrics});
    Finished finished = smpRun(more);
    EXPECT_EQ(finished.code, 0) << finished.errors;
    return finished;
  };
  std::string whole = temporaryPath("whole.jsonl"),
              parts = temporaryPath("parts.jsonl");
  train("6", whole, {"--seed=9", "--eval-data=" + data, "--eval-every=3"});
  train("4", parts,
        {"--seed=9", "--checkpoint-dir=" + checkpoints, "--save-every=2"});
  // The seed comes from the checkpoint; another one is refused.
  Finished other =
      smpRun({job, "--ranks=4", "--data=" + data, "--steps=6",
              "--checkpoint-dir=" + checkpoints, "--resume", "--seed=8"});
  EXPECT_EQ(other.code, 1);
  EXPECT_NE(other.errors.find("expects the seed of the checkpoint, 9, got 8"),
            std::string::npos)
      << other.errors;
  Finished rest = train(
      "6", parts,
      {"--checkpoint-dir=" + checkpoints, "--resume", "--eval-data=" + data});
  EXPECT_NE(rest.errors.find("resumed 'step-4' after step 4"),
            std::string::npos);
  ASSERT_EQ(readLosses(whole).size(), 6u);
  // Steps count from 1, as in the lines of the terminal and of evaluations.
  EXPECT_EQ(readLosses(whole).back().first, 6);
  Finished none = train("5", temporaryPath("none.jsonl"),
                        {"--checkpoint-dir=" + checkpoints, "--resume"});
  EXPECT_NE(
      none.errors.find("note: '--steps' 5 counts the steps of all runs: none "
                       "is left to do"),
      std::string::npos)
      << none.errors;
  EXPECT_EQ(readLosses(whole), readLosses(parts));
  EXPECT_EQ(readLines(whole).size(), 8u); // two evaluations
  EXPECT_EQ(readLines(whole).back(), readLines(parts).back());
}

TEST(SmpRunTest, FinishesTheStepAndSavesOnInterrupt) {
  std::string job = twoStageJob("interrupted");
  std::string data = writeRegressionData({}, 48, "interrupted");
  for (const char *transport : {"mpi", "threads"}) {
    std::string checkpoints = temporaryPath("interrupted-checkpoints");
    std::string metrics = temporaryPath("interrupted.jsonl");
    Process process({SMP_RUN, job, "--data=" + data, "--steps=100000000",
                     std::string("--transport=") + transport,
                     "--checkpoint-dir=" + checkpoints,
                     "--metrics=" + metrics});
    ASSERT_TRUE(waitForLines(metrics, 3)) << process.errors();
    process.signal(SIGINT);
    EXPECT_EQ(process.wait(20), 130) << process.errors();
    EXPECT_NE(process.errors().find("stopped after step"), std::string::npos)
        << process.errors();
    EXPECT_TRUE(std::filesystem::exists(checkpoints + "/newest"));
    auto losses = readLosses(metrics);
    std::string folder =
        checkpoints + "/step-" + std::to_string(losses.back().first);
    EXPECT_TRUE(std::filesystem::exists(folder + "_partial"));
  }
}

TEST(SmpRunTest, EndsWhenARankIsKilled) {
  std::string job = twoStageJob("killed");
  std::string data = writeRegressionData({}, 48, "killed");
  std::string metrics = temporaryPath("killed.jsonl");
  Process process({SMP_RUN, job, "--data=" + data, "--steps=100000000",
                   "--ranks=4", "--metrics=" + metrics});
  ASSERT_TRUE(waitForLines(metrics, 3)) << process.errors();
  std::vector<pid_t> ranks = descendants(process.id(), "smp-run");
  ASSERT_EQ(ranks.size(), 4u);
  kill(ranks[2], SIGKILL);
  int code = process.wait(10);
  EXPECT_GT(code, 0) << process.errors();
  std::string errors = process.errors();
  int survivors = 0;
  for (size_t at = 0; (at = errors.find("lost rank", at)) != std::string::npos;
       ++at)
    ++survivors;
  EXPECT_EQ(survivors, 3) << errors;
  // The action is one of a microbatch, or the sum over ranks that ends a step.
  EXPECT_TRUE(errors.find("microbatch") != std::string::npos ||
              errors.find("sum of results") != std::string::npos)
      << errors;
  for (pid_t rank : ranks)
    EXPECT_FALSE(isAlive(rank));
}

TEST(SmpRunTest, GeneratesText) {
  std::string job = writeJob(makeTokenJob(), "tokens");
  auto generate = [&](const std::string &prompt, const char *count,
                      std::vector<std::string> more = {}) {
    more.insert(more.begin(), {job, std::string("--generate=") + count,
                               "--prompt=" + prompt});
    return smpRun(more);
  };
  EXPECT_EQ(generate("abc", "3").output, "abcdef\n");
  // Longer than the window of eight.
  EXPECT_EQ(generate("0123456789", "12").output, "0123456789:;<=>?@ABCDE\n");
  // A word that means something to mpirun.
  EXPECT_EQ(smpRun({job, "--generate=2", "--prompt", ":", "--ranks=2"}).output,
            ":;<\n");
  std::vector<std::string> sampled = {"--temperature=2", "--seed=5"};
  Finished first = generate("a", "40", sampled);
  EXPECT_EQ(first.output, generate("a", "40", sampled).output);
  EXPECT_NE(first.output, generate("a", "40", {"--temperature=2"}).output);
  // Ctrl-C ends with the text so far.
  Process endless({SMP_RUN, job, "--generate=1000000000000", "--prompt=ab"});
  std::this_thread::sleep_for(std::chrono::seconds(2));
  endless.signal(SIGINT);
  EXPECT_EQ(endless.wait(), 130) << endless.errors();
  EXPECT_EQ(endless.output().substr(0, 4), "abcd");
  expectError({job, "--generate=3"}, 1,
              "expects a prompt of at least one byte");
  expectError({twoStageJob("no-text"), "--generate=3", "--prompt=a",
               "--transport=threads"},
              1, "expects a model of tokens to generate text");
}

TEST(SmpRunTest, AsksForWeightsOfAModelThatHadSome) {
  JobFiles files = makeTokenJob();
  files["job.json"]["needs_init"] = true;
  std::string job = writeJob(files, "weights");
  expectError({job, "--generate=1", "--prompt=a"}, 1,
              "expects '--init', got none");
  EXPECT_EQ(smpRun({job, "--generate=1", "--prompt=a", "--init=random"}).output,
            "ab\n");
}

TEST(SmpRunTest, WritesATimelineOfAllRanks) {
  std::string job = twoStageJob("timeline");
  std::string data = writeRegressionData({}, 48, "timeline");
  std::string path = temporaryPath("trace.json");
  Finished finished =
      smpRun({job, "--data=" + data, "--steps=2", "--trace=" + path});
  ASSERT_EQ(finished.code, 0) << finished.errors;
  std::ifstream file(path);
  json trace = json::parse(file, nullptr, false);
  ASSERT_FALSE(trace.is_discarded());
  json events = trace.is_object() ? trace["traceEvents"] : trace;
  std::set<std::string> names;
  std::set<int> ranks;
  for (const json &event : events) {
    names.insert(event.value("name", ""));
    ranks.insert(event.value("pid", -1));
  }
  for (const char *name :
       {"forward c0", "forward c1", "send act.c0-c1", "recv grad.c1-c0",
        "all_reduce rdp", "update", "sgd", "product 4x5x6"})
    EXPECT_TRUE(names.count(name)) << name;
  EXPECT_EQ(ranks.size(), 2u);
}

TEST(SmpRunTest, PrintsRanksWithoutAJob) {
  std::string config = temporaryPath("smp.json");
  std::ofstream(config) << R"({"pipeline_parallel_degree": 2,
    "tensor_parallel_degree": 2, "placement_strategy": "spread"})";
  Finished plain = smpRun({"--print-ranks", "--config=" + config, "--ranks=8"});
  EXPECT_EQ(plain.code, 0);
  EXPECT_NE(plain.output.find("placement TPD, 8 ranks: pp 2, tp 2, rdp 2"),
            std::string::npos)
      << plain.output;
  Finished used = smpRun({"--print-ranks", "--config=" + config, "--ranks=8",
                          "--transport=threads"});
  EXPECT_EQ(used.output, plain.output);
  expectError({"--print-ranks", "--config=" + config, "--ranks=6"}, 1,
              "got 6 ranks");
  expectError({"--print-ranks", "--pipelin-parallel-degree=2"}, 2,
              "unknown option");
}
