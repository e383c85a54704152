//===- SessionTest.cpp - Training a hand-made job -------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures/RegressionJob.h"
#include "Fixtures/TemporaryPath.h"
#include "smp/runtime/Comm/ThreadTransport.h"
#include "smp/runtime/Session/Trainer.h"

#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>

using namespace smp;
using namespace smp::runtime;
using namespace smp::runtime::test;

namespace {

/// Whole steps, as this job weighs no rows of them; but no whole evaluation.
constexpr int64_t dataRows = 48, evaluatedRows = 50;

struct Outcome {
  std::vector<double> losses;
  double evalLoss = 0;
  std::map<std::string, std::vector<float>> parameters;
};

struct RunOptions {
  SessionOptions session;
  int rdp = 1;
  int64_t steps = 6, stopAt = -1;
  std::string checkpoints; ///< save at stopAt, or resume
  bool resume = false;
};

std::map<std::string, std::vector<float>> readAll(const std::string &path) {
  std::map<std::string, std::vector<float>> result;
  auto file = SafetensorsFile::open(path);
  EXPECT_TRUE(bool(file));
  if (file)
    for (const TensorView &tensor : file->tensors())
      result[tensor.name] = tensor.toF32();
  return result;
}

/// Trains on the threads transport.
Outcome trainJob(const RegressionShape &shape, const RunOptions &options) {
  std::string job = writeJob(makeRegressionJob(shape), "trained");
  std::string data = writeRegressionData(shape, dataRows, "data");
  std::string held = writeRegressionData(shape, evaluatedRows, "held-out");
  std::string dump = job + "/parameters.safetensors";
  Outcome outcome;
  Status status =
      runThreads(int(shape.pp) * options.rdp, [&](Comm &comm) -> Status {
        SessionOptions sessionOptions = options.session;
        sessionOptions.steps = options.steps;
        SMP_ASSIGN_OR_RETURN(std::unique_ptr<Session> session,
                             Session::create(job, comm, sessionOptions));
        int64_t first = 0;
        if (options.resume) {
          SMP_ASSIGN_OR_RETURN(Resumed resumed,
                               session->resume(options.checkpoints));
          session->setProgress(resumed.progress);
          first = resumed.progress.step;
        } else {
          SMP_ASSIGN_OR_RETURN(std::vector<std::string> unused,
                               session->initialize("reference"));
          EXPECT_TRUE(unused.empty());
        }
        SMP_RETURN_IF_ERROR(session->openTrainingData(data));
        SMP_RETURN_IF_ERROR(session->openEvaluationData(held));
        for (int64_t step = first; step < options.steps; ++step) {
          if (step == options.stopAt)
            return session->save(options.checkpoints,
                                 session->progressAfter(step));
          SMP_ASSIGN_OR_RETURN(StepResult result,
                               session->trainStep(step, false));
          if (comm.rank() == 0)
            outcome.losses.push_back(result.loss);
        }
        SMP_ASSIGN_OR_RETURN(std::optional<double> loss,
                             session->evaluate(options.steps));
        if (comm.rank() == 0)
          outcome.evalLoss = loss.value();
        return session->dumpParameters(dump);
      });
  EXPECT_TRUE(bool(status)) << (status ? "" : status.error().str());
  if (status && options.stopAt < 0)
    outcome.parameters = readAll(dump);
  return outcome;
}

/// The same training as plain loops.
Outcome trainPlainly(const RegressionShape &shape, int rdp, int64_t steps) {
  PlainRegression net(shape);
  SampleOrder order(dataRows, 0);
  Outcome outcome;
  int64_t batch = rdp * shape.microbatches * shape.rows;
  for (int64_t step = 0; step < steps; ++step) {
    std::vector<std::pair<int64_t, int64_t>> samples;
    for (int64_t i = step * batch; i < (step + 1) * batch; ++i)
      samples.emplace_back(order.at(i).index, i);
    outcome.losses.push_back(net.step(samples, 0.05));
  }
  outcome.evalLoss = net.evaluate(evaluatedRows);
  outcome.parameters["w1.weight"].assign(net.w1.begin(), net.w1.end());
  outcome.parameters["w2.weight"].assign(net.w2.begin(), net.w2.end());
  return outcome;
}

void expectNear(const Outcome &actual, const Outcome &expected,
                double tolerance) {
  ASSERT_EQ(actual.losses.size(), expected.losses.size());
  for (size_t i = 0; i < actual.losses.size(); ++i)
    EXPECT_NEAR(actual.losses[i], expected.losses[i], tolerance) << i;
  EXPECT_NEAR(actual.evalLoss, expected.evalLoss, tolerance);
  ASSERT_EQ(actual.parameters.size(), expected.parameters.size());
  for (const auto &[name, values] : expected.parameters) {
    const std::vector<float> &own = actual.parameters.at(name);
    ASSERT_EQ(own.size(), values.size());
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(own[i], values[i], tolerance) << name << " " << i;
  }
}

void expectSameBits(const Outcome &actual, const Outcome &expected) {
  EXPECT_EQ(actual.losses, expected.losses);
  EXPECT_EQ(actual.evalLoss, expected.evalLoss);
  EXPECT_EQ(actual.parameters, expected.parameters);
}

} // namespace

TEST(SessionTest, TrainsLikePlainLoops) {
  for (int rdp : {1, 2}) {
    RegressionShape shape;
    RunOptions options;
    options.rdp = rdp;
    Outcome outcome = trainJob(shape, options);
    expectNear(outcome, trainPlainly(shape, rdp, options.steps), 2e-5);
  }
}

TEST(SessionTest, PipelineDegreeAndScheduleChangeNoBit) {
  for (int rdp : {1, 2}) {
    RegressionShape shape;
    RunOptions options;
    options.rdp = rdp;
    Outcome one = trainJob(shape, options);
    shape.pp = 2;
    expectSameBits(trainJob(shape, options), one);
    shape.oneByOne = true;
    expectSameBits(trainJob(shape, options), one);
  }
}

TEST(SessionTest, OrderThreadsAndPoisonChangeNoBit) {
  RegressionShape shape;
  shape.pp = 2;
  shape.oneByOne = true;
  RunOptions options;
  options.rdp = 2;
  Outcome plain = trainJob(shape, options);
  for (uint64_t seed = 0; seed < 10; ++seed) {
    options.session.orderSeed = seed;
    options.session.threads = seed % 2 ? 2 : 1;
    options.session.poison = seed % 3 == 0;
    expectSameBits(trainJob(shape, options), plain);
  }
}

TEST(SessionTest, ResumesBitForBit) {
  RegressionShape shape;
  shape.pp = 2;
  RunOptions options;
  options.rdp = 2;
  Outcome whole = trainJob(shape, options);
  options.checkpoints = temporaryPath("checkpoints");
  options.stopAt = 3;
  Outcome begin = trainJob(shape, options);
  options.stopAt = -1;
  options.resume = true;
  Outcome rest = trainJob(shape, options);
  begin.losses.insert(begin.losses.end(), rest.losses.begin(),
                      rest.losses.end());
  rest.losses = begin.losses;
  expectSameBits(rest, whole);
}

/// A job whose forward reads the workspace before it is written.
TEST(SessionTest, PoisonFindsReadsOfDeadMemory) {
  RegressionShape shape;
  JobFiles files = makeRegressionJob(shape);
  auto &forward = files["chunk-1.json"]["programs"]["forward"]["commands"];
  std::swap(forward[0], forward[1]);
  forward[0]["id"] = 0, forward[1]["id"] = 1;
  forward[0]["waits"] = nlohmann::json::array(), forward[1]["waits"] = {0};
  std::string job = writeJob(files, "poisoned");
  std::string data = writeRegressionData(shape, dataRows, "data");
  for (bool poison : {false, true}) {
    double loss = 0;
    Status status = runThreads(1, [&](Comm &comm) -> Status {
      SessionOptions options;
      options.poison = poison;
      SMP_ASSIGN_OR_RETURN(std::unique_ptr<Session> session,
                           Session::create(job, comm, options));
      SMP_RETURN_IF_ERROR(session->initialize("random"));
      SMP_RETURN_IF_ERROR(session->openTrainingData(data));
      SMP_ASSIGN_OR_RETURN(StepResult result, session->trainStep(0, false));
      loss = result.loss;
      return {};
    });
    ASSERT_TRUE(bool(status)) << status.error().str();
    EXPECT_EQ(std::isnan(loss), poison);
  }
}

TEST(SessionTest, AllRanksReturnTheSameError) {
  RegressionShape shape;
  shape.pp = 2;
  std::string job = writeJob(makeRegressionJob(shape), "errors");
  std::vector<std::string> messages(2);
  Status status = runThreads(2, [&](Comm &comm) -> Status {
    SMP_ASSIGN_OR_RETURN(std::unique_ptr<Session> session,
                         Session::create(job, comm, {}));
    Status opened = session->openTrainingData("/nowhere.safetensors");
    messages[size_t(comm.rank())] = opened ? "" : opened.error().message;
    return {};
  });
  EXPECT_TRUE(bool(status));
  EXPECT_NE(messages[0].find("/nowhere.safetensors"), std::string::npos);
  EXPECT_EQ(messages[0], messages[1]);
}

TEST(SessionTest, RowsThatCannotBePaddedMakeWholeSteps) {
  RegressionShape shape;
  shape.pp = 2;
  std::string job = writeJob(makeRegressionJob(shape), "ragged");
  std::string data = writeRegressionData(shape, evaluatedRows, "data");
  Status status = runThreads(2, [&](Comm &comm) -> Status {
    SMP_ASSIGN_OR_RETURN(std::unique_ptr<Session> session,
                         Session::create(job, comm, {}));
    return session->openTrainingData(data);
  });
  ASSERT_FALSE(bool(status));
  EXPECT_NE(status.error().message.find(
                "expects a multiple of 12 samples, as padded rows would "
                "change this model's loss, got 50"),
            std::string::npos)
      << status.error().message;
}

TEST(SessionTest, RowsThatCannotBePaddedMakeWholeStepsBehindACheckpoint) {
  RegressionShape shape;
  shape.pp = 2;
  std::string job = writeJob(makeRegressionJob(shape), "resumed");
  std::string data = writeRegressionData(shape, 24, "resumed");
  for (int64_t samples : {0, 12, 18, 24 + 6, 48}) {
    Status status = runThreads(2, [&](Comm &comm) -> Status {
      SMP_ASSIGN_OR_RETURN(std::unique_ptr<Session> session,
                           Session::create(job, comm, {}));
      session->setProgress({samples / 6, samples, 0, 0});
      return session->openTrainingData(data);
    });
    EXPECT_EQ(bool(status), samples % 12 == 0) << samples;
    if (!status)
      EXPECT_NE(status.error().message.find(
                    "expects a multiple of 12 samples to be left of the epoch "
                    "that is resumed, as padded rows would change this model's "
                    "loss, got " +
                    std::to_string(24 - samples % 24)),
                std::string::npos)
          << status.error().message;
  }
}

/// How often this rank has been asked whether to stop.
thread_local int asked = 0;

TEST(SessionTest, AnEvaluationIsGivenUpWhenOneRankIsAskedToStop) {
  RegressionShape shape;
  shape.pp = 2;
  std::string job = writeJob(makeRegressionJob(shape), "given-up");
  std::string data = writeRegressionData(shape, 24, "given-up");
  std::array<TrainSummary, 2> summaries;
  Status status = runThreads(2, [&](Comm &comm) -> Status {
    SMP_ASSIGN_OR_RETURN(std::unique_ptr<Session> session,
                         Session::create(job, comm, {}));
    SMP_RETURN_IF_ERROR(session->initialize("reference"));
    SMP_RETURN_IF_ERROR(session->openTrainingData(data));
    SMP_RETURN_IF_ERROR(session->openEvaluationData(data));
    TrainOptions options;
    options.steps = 5;
    options.evaluates = true;
    options.evalEvery = 2;
    // Once in each step and in each pass of an evaluation, which has two.
    asked = comm.rank() == 0 ? -100 : 0;
    options.stop = [] { return ++asked == 4; };
    SMP_ASSIGN_OR_RETURN(summaries[comm.rank()], train(*session, options, 0));
    return {};
  });
  ASSERT_TRUE(bool(status)) << status.error().str();
  for (const TrainSummary &summary : summaries) {
    EXPECT_TRUE(summary.interrupted);
    EXPECT_EQ(summary.steps, 2);
    EXPECT_FALSE(summary.evalLoss);
  }
}

TEST(SessionTest, RanksReadTheSameData) {
  RegressionShape shape;
  shape.pp = 2;
  std::string job = writeJob(makeRegressionJob(shape), "same");
  std::string longer = writeRegressionData(shape, 24, "longer"),
              shorter = writeRegressionData(shape, 12, "shorter"),
              other = writeRegressionData(shape, 24, "other");
  {
    std::fstream file(other, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('\x40');
  }
  for (const auto &[second, got] :
       {std::pair(shorter, "12 on rank 1"), {other, "others on rank 1"}}) {
    Status status = runThreads(2, [&](Comm &comm) -> Status {
      SMP_ASSIGN_OR_RETURN(std::unique_ptr<Session> session,
                           Session::create(job, comm, {}));
      return session->openTrainingData(comm.rank() == 0 ? longer : second);
    });
    ASSERT_FALSE(bool(status));
    EXPECT_NE(status.error().message.find("expects the same data on all ranks, "
                                          "got 24 samples on rank 0 and " +
                                          std::string(got)),
              std::string::npos)
        << status.error().message;
  }
}

TEST(SessionTest, ErrorsNameRankActionAndStep) {
  RegressionShape shape;
  shape.pp = 2;
  JobFiles files = makeRegressionJob(shape);
  for (nlohmann::json &action : files["rank-1.json"]["schedules"]["train"])
    if (action["kind"] == "recv")
      action["buffer"]["n"] = 4;
  std::string job = writeJob(files, "mismatch");
  std::string data = writeRegressionData(shape, dataRows, "data");
  Status status = runThreads(2, [&](Comm &comm) -> Status {
    SMP_ASSIGN_OR_RETURN(std::unique_ptr<Session> session,
                         Session::create(job, comm, {}));
    SMP_RETURN_IF_ERROR(session->initialize("random"));
    SMP_RETURN_IF_ERROR(session->openTrainingData(data));
    SMP_RETURN_IF_ERROR(session->trainStep(0, false));
    return {};
  });
  ASSERT_FALSE(bool(status));
  EXPECT_NE(status.error().message.find(" act.c0-c1, microbatch 0, step 1: "),
            std::string::npos)
      << status.error().message;
}

TEST(SessionTest, RefusesAWorldThatDoesNotFit) {
  RegressionShape shape;
  shape.pp = 2;
  std::string job = writeJob(makeRegressionJob(shape), "world");
  Status status = runThreads(3, [&](Comm &comm) -> Status {
    SMP_RETURN_IF_ERROR(Session::create(job, comm, {}));
    return {};
  });
  ASSERT_FALSE(bool(status));
  EXPECT_NE(status.error().message.find('3'), std::string::npos);
}
