//===- LivenessTest.cpp - Who waits for whom ------------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Comm/Liveness.h"
#include "smp/runtime/Comm/ThreadTransport.h"
#include <gtest/gtest.h>
#include <thread>

using namespace smp;
using namespace smp::runtime;

TEST(Liveness, TheLineNamesTheWaitForTheLostRank) {
  std::thread([] {
    setActivityRank(5);
    EXPECT_EQ(activityLine(5, 2), "smp-run: rank 5: lost rank 2 while idle");
    setActivity(0, {.action = "forward", .microbatch = 1, .step = 4});
    EXPECT_EQ(activityLine(5, 2), "smp-run: rank 5: lost rank 2 during "
                                  "forward, microbatch 1, step 4");
    setActivity(3, {.action = "send grad.c1-c0", .peer = 4, .microbatch = 0});
    setActivity(2, {.action = "all_reduce rdp"});
    EXPECT_EQ(activityLine(5, 2),
              "smp-run: rank 5: lost rank 2 while waiting for rank 4: send "
              "grad.c1-c0, microbatch 0");
    setActivity(1, {.action = "recv act.c0-c1", .peer = 2});
    EXPECT_EQ(activityLine(5, 2), "smp-run: rank 5: lost rank 2 while waiting "
                                  "for it: recv act.c0-c1");
    EXPECT_EQ(activityLine(5, -1),
              "smp-run: rank 5: terminated while waiting for rank 4: send "
              "grad.c1-c0, microbatch 0");
    clearActivity(1);
    clearActivity(3);
    EXPECT_EQ(activityLine(5, 2), "smp-run: rank 5: lost rank 2 during "
                                  "forward, microbatch 1, step 4");
    std::string longName(500, 'x');
    setActivity(1, {.action = longName, .peer = 2});
    EXPECT_EQ(activityLine(5, 2), "smp-run: rank 5: lost rank 2 while waiting "
                                  "for it: " +
                                      std::string(64, 'x'));
    // The phase is said when there is nothing else, or who it waits for.
    clearActivity(0);
    clearActivity(1);
    clearActivity(2);
    setPhase("save of 'step-3'", 3);
    EXPECT_EQ(activityLine(5, 2),
              "smp-run: rank 5: lost rank 2 during save of 'step-3', step 3");
    setActivity(0, {.action = "forward", .microbatch = 1, .step = 4});
    EXPECT_EQ(activityLine(5, 2), "smp-run: rank 5: lost rank 2 during "
                                  "forward, microbatch 1, step 4");
    setActivityPeer(phaseSlot, 2);
    EXPECT_EQ(activityLine(5, 2),
              "smp-run: rank 5: lost rank 2 while waiting for it: save of "
              "'step-3', step 3");
    for (int slot = 0; slot < activitySlots; ++slot)
      clearActivity(slot);
  }).join();
}

TEST(Liveness, RanksOfOneProcessKeepTheirRecordsApart) {
  EXPECT_TRUE(runThreads(4, [](Comm &comm) -> Status {
    std::string own = "work of " + std::to_string(comm.rank());
    setActivity(0, {.action = own});
    SMP_RETURN_IF_ERROR(comm.wait(comm.barrier(comm.world())));
    for (int rank = 0; rank < 4; ++rank)
      EXPECT_EQ(activityLine(rank, -1),
                "smp-run: rank " + std::to_string(rank) +
                    ": terminated during work of " + std::to_string(rank));
    SMP_RETURN_IF_ERROR(comm.wait(comm.barrier(comm.world())));
    clearActivity(0);
    return {};
  }));
}

TEST(Liveness, ThreadsNeedNoWatch) {
  EXPECT_TRUE(runThreads(3, [](Comm &comm) { return startLiveness(comm); }));
  stopLiveness();
}
