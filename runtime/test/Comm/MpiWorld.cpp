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

/// What ranks other than the first say: their failures.
class FailurePrinter : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult &result) override {
    if (result.failed())
      std::fprintf(stderr, "rank %d: %s:%d: %s\n", world->rank(),
                   result.file_name(), result.line_number(), result.message());
  }
};

int main(int argc, char **argv) {
  Result<std::unique_ptr<Comm>> comm = createMpiComm();
  if (!comm) {
    std::fprintf(stderr, "%s\n", comm.error().str().c_str());
    return 1;
  }
  world = comm->get();
  testing::InitGoogleTest(&argc, argv);
  if (world->rank() != 0) {
    auto &listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter);
  }
  int failed = RUN_ALL_TESTS();
  comm->reset();
  finalizeMpi();
  return failed;
}
