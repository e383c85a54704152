//===- TraceTest.cpp - Timelines and metrics ------------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Trace/Trace.h"
#include "smp/Support/Json.h"
#include "smp/Support/MappedFile.h"
#include "smp/runtime/Comm/ThreadTransport.h"
#include <cmath>
#include <cstdio>
#include <gtest/gtest.h>

using namespace smp;
using namespace smp::runtime;
using nlohmann::json;

TEST(Trace, EventsOfAllRanksInOneFile) {
  std::string path = testing::TempDir() + "smp-trace-test.json";
  Status status = runThreads(2, [&](Comm &comm) {
    Trace trace(comm.rank());
    double now = traceNow();
    trace.add({.name = "k0 \"quoted\" \xff",
               .track = "compute",
               .begin = now,
               .end = now + 5,
               .command = 3,
               .action = 1,
               .step = 0,
               .microbatch = 2,
               .location = "model.py:31"});
    trace.add({.name = "recv act.c0-c1",
               .track = "from 0",
               .begin = now,
               .end = now + 1});
    return writeTrace(comm, trace, path);
  });
  ASSERT_TRUE(status) << status.error().str();
  auto parsed = parseJson(*readFile(path), "trace");
  ASSERT_TRUE(parsed);
  const json &events = (*parsed)["traceEvents"];
  ASSERT_EQ(events.size(), 10u); // a process, two tracks, two events per rank
  EXPECT_EQ(events[0]["args"]["name"], "rank 0");
  EXPECT_EQ(events[1]["args"]["name"], "compute");
  EXPECT_EQ(events[2]["args"]["name"], "from 0");
  const json &kernel = events[8];
  EXPECT_EQ(kernel["ph"], "X");
  EXPECT_EQ(kernel["pid"], 1);
  EXPECT_EQ(kernel["tid"], 1);
  EXPECT_NEAR(kernel["dur"].get<double>(), 5, 0.5);
  EXPECT_EQ(kernel["args"], json({{"command", 3},
                                  {"action", 1},
                                  {"step", 0},
                                  {"microbatch", 2},
                                  {"location", "model.py:31"}}));
  EXPECT_TRUE(events[9]["args"].empty());
  std::remove(path.c_str());
}

TEST(Trace, AFileThatCannotBeWrittenIsEveryRanksError) {
  int failed = 0;
  std::mutex mutex;
  EXPECT_TRUE(runThreads(2, [&](Comm &comm) {
    Status status = writeTrace(comm, Trace(comm.rank()), "/nonexistent/t");
    std::scoped_lock lock(mutex);
    failed += !status;
    return Status();
  }));
  EXPECT_EQ(failed, 2);
}

TEST(Metrics, OneObjectALine) {
  std::string path = testing::TempDir() + "smp-metrics-test.jsonl";
  std::remove(path.c_str());
  for (int run = 0; run < 2; ++run) {
    auto metrics = MetricsWriter::open(path, run == 1);
    ASSERT_TRUE(metrics);
    MetricsWriter moved = std::move(*metrics);
    MetricsLine line;
    line.add("step", int64_t{run}).add("loss", 2.5);
    ASSERT_TRUE(moved.write(line));
    // Readable at once.
    EXPECT_NE(readFile(path)->find("\"step\":" + std::to_string(run)),
              std::string::npos);
  }
  EXPECT_EQ(*readFile(path),
            "{\"step\":0,\"loss\":2.5}\n{\"step\":1,\"loss\":2.5}\n");
  std::remove(path.c_str());
  EXPECT_FALSE(MetricsWriter::open("/nonexistent/m", false));
}

/// Numbers come back bit for bit, and with the kind that they had.
TEST(Metrics, ALineIsJson) {
  for (double value : {0.0, -0.0, 3.0, 1e22, 0.1, -1.5e-310, 1.0 / 3, 1e300}) {
    MetricsLine line;
    line.add("value", value);
    auto parsed = parseJson(std::string(line.text()), "line");
    ASSERT_TRUE(parsed);
    EXPECT_TRUE((*parsed)["value"].is_number_float()) << line.text();
    EXPECT_EQ((*parsed)["value"].get<double>(), value);
  }
  MetricsLine line;
  line.add("nan", std::nan("")).add("infinity", -HUGE_VAL).add("skipped", true);
  EXPECT_EQ(line.text(), "{\"nan\":null,\"infinity\":null,\"skipped\":true}\n");
  EXPECT_EQ(MetricsLine().text(), "{}\n");
}
