//===- ThreadFailuresTest.cpp - Failures among ranks of one process -------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Apart from the conformance suite, since the communicator is spent afterwards;
// MpirunTest has the same for processes.
//
//===----------------------------------------------------------------------===//

#include "Worlds.h"
#include "smp/runtime/Comm/ThreadTransport.h"

using namespace smp;
using namespace smp::runtime;

static void forEachFailingWorld(const std::function<void(Comm &)> &body) {
  for (int ranks : {2, 3, 8})
    expectSuccess(runThreads(ranks, [&](Comm &comm) {
      body(comm);
      return Status();
    }));
}

TEST(ThreadFailures, AnAbortReachesEveryWaitingRank) {
  forEachFailingWorld([](Comm &comm) {
    if (comm.rank() == 1) {
      comm.abort(Error{"loss is nan"});
      Status after = comm.wait(comm.barrier(comm.world()));
      ASSERT_FALSE(after);
      return;
    }
    std::vector<float> values(100000);
    Request receive = comm.receive(1, 3, values.data(), 16);
    Status status = comm.wait(
        comm.allReduce(comm.world(), DataType::F32, values.data(), 100000));
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().message, "rank 1 stopped: loss is nan");
    EXPECT_FALSE(comm.wait(receive));
    EXPECT_FALSE(comm.progress());
  });
}

TEST(ThreadFailures, ADifferenceInSizesIsAnError) {
  forEachFailingWorld([](Comm &comm) {
    if (comm.rank() > 1)
      return;
    char buffer[8] = {};
    Request request = comm.rank() == 0 ? comm.send(1, 0, buffer, 8)
                                       : comm.receive(0, 0, buffer, 4);
    EXPECT_FALSE(comm.wait(request));
  });
}

TEST(ThreadFailures, TheCauseIsReturnedNotItsConsequences) {
  for (bool calledAbort : {false, true}) {
    Status status = runThreads(4, [&](Comm &comm) -> Status {
      if (comm.rank() == 2) {
        if (calledAbort)
          comm.abort(Error{"out of range"});
        return Error{"out of range"};
      }
      return comm.wait(comm.barrier(comm.world()));
    });
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().message, "out of range");
  }
}

/// Ranks that fail take their buffers with them while others still post.
TEST(ThreadFailures, BuffersMayGoAwayAfterAnAbort) {
  for (int round = 0; round < 50; ++round)
    EXPECT_FALSE(runThreads(4, [&](Comm &comm) -> Status {
      std::vector<float> values(5000);
      for (int i = 0;; ++i) {
        if (comm.rank() == 3 && i == round)
          return Error{"enough"};
        SMP_RETURN_IF_ERROR(comm.wait(
            comm.allReduce(comm.world(), DataType::F32, values.data(), 5000)));
      }
    }));
}
