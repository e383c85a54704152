//===- MpiWorld.cpp - The conformance suite under mpirun ------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Worlds.h"
#include "smp/runtime/Comm/MpiTransport.h"

using namespace smp;
using namespace smp::runtime;

static Comm *world = nullptr;

void forEachWorld(const std::function<void(Comm &)> &body) {
  body(*world);
  // A rank must not run ahead into the next test when this one left messages.
  expectSuccess(world->wait(world->barrier(world->world())));
}

int main(int argc, char **argv) {
  Result<std::unique_ptr<Comm>> comm = createMpiComm();
  if (!comm) {
    std::fprintf(stderr, "%s\n", comm.error().str().c_str());
    return 1;
  }
  world = comm->get();
  testing::InitGoogleTest(&argc, argv);
  if (world->rank() != 0)
    delete testing::UnitTest::GetInstance()->listeners().Release(
        testing::UnitTest::GetInstance()->listeners().default_result_printer());
  int failed = RUN_ALL_TESTS();
  if (failed && world->rank() != 0)
    std::fprintf(stderr, "rank %d: %d tests failed\n", world->rank(),
                 testing::UnitTest::GetInstance()->failed_test_count());
  comm->reset();
  finalizeMpi();
  return failed;
}
