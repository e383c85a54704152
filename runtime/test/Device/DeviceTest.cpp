//===- DeviceTest.cpp - Arenas, pool and commands of the CPU device -------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Device/CpuDevice.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace smp;
using namespace smp::runtime;

static Arena arena(int64_t stride, int64_t slots) {
  Arena result;
  result.name = "a";
  result.stride = stride;
  result.slots = slots;
  return result;
}

static void finish(Device &device, size_t count,
                   std::vector<Completion> &completions) {
  while (completions.size() < count) {
    if (!device.work())
      device.wait(100);
    device.poll(completions);
  }
}

TEST(ArenasTest, AllocatesExactlyThePlannedBytesZeroed) {
  Result<Arenas> arenas =
      Arenas::allocate({arena(256, 3), arena(0, 1), arena(5 << 20, 2)}, ".");
  ASSERT_TRUE(bool(arenas));
  EXPECT_EQ(arenas->totalBytes(), 768 + (10 << 20));
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(arenas->base(i)) % 256, 0u);
    for (int64_t byte = 0; byte < arenas->bytes(i); ++byte)
      ASSERT_EQ(arenas->base(i)[byte], std::byte(0));
  }
  EXPECT_EQ(arenas->at(Operand{0, 8, 4, true}, 2) - arenas->base(0), 520);
  EXPECT_EQ(arenas->at(Operand{0, 8, 4, false}, 2) - arenas->base(0), 8);
}

TEST(ArenasTest, AllocatesWhatThePhasesUse) {
  Arena workspace = arena(4096, 1), stash = arena(512, 3);
  workspace.used = {1024, 512, 4096};
  stash.used = {1536, 0, 0};
  auto total = [&](const Phases &phases) {
    Result<Arenas> arenas =
        Arenas::allocate({workspace, stash, arena(256, 2)}, ".", phases);
    return arenas ? arenas->totalBytes() : -1;
  };
  EXPECT_EQ(total({true, true, true}), 4096 + 1536 + 512);
  EXPECT_EQ(total({true, true, false}), 1024 + 1536 + 512);
  EXPECT_EQ(total({false, true, false}), 512 + 512);
  EXPECT_EQ(total({false, false, false}), 512);
}

TEST(ArenasTest, SaysWhatDoesNotFit) {
  Result<Arenas> arenas = Arenas::allocate({arena(int64_t(1) << 60, 1)}, ".");
  ASSERT_FALSE(bool(arenas));
  EXPECT_NE(arenas.error().message.find("planned 1152921504606846976 bytes"),
            std::string::npos);
  Arena constants = arena(256, 1);
  constants.constants = {0, 8};
  EXPECT_NE(Arenas::allocate({constants}, "/nowhere")
                .error()
                .message.find("/nowhere/constants.bin"),
            std::string::npos);
}

TEST(ThreadPoolTest, HandsOutEveryTileOnce) {
  for (int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    std::vector<std::atomic<int>> hits(1000);
    std::vector<Completion> completions;
    for (int round = 0; round < 20; ++round)
      pool.start(
          [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i)
              ++hits[size_t(i)];
          },
          1 + 50 * round, uint64_t(round));
    while (completions.size() < 20) {
      if (!pool.work())
        pool.wait(100);
      pool.poll(completions);
    }
    for (int i = 0; i < 951; ++i)
      ASSERT_EQ(hits[size_t(i)], 20 - (i + 49) / 50) << i;
    std::vector<bool> seen(20);
    for (const Completion &each : completions) {
      EXPECT_FALSE(seen[each.ticket]);
      EXPECT_LE(each.begin, each.end);
      seen[each.ticket] = true;
    }
  }
}

TEST(CpuDeviceTest, CopiesAndFills) {
  Result<Arenas> arenas = Arenas::allocate({arena(3 << 20, 2)}, ".");
  ASSERT_TRUE(bool(arenas));
  int64_t bytes = (2 << 20) + 100;
  for (int64_t i = 0; i < bytes; ++i)
    arenas->base(0)[i] = std::byte(i * 7 + 1);
  CpuDevice device({}, 2);
  Frame frame;
  frame.arenas = &*arenas;
  frame.slots = {1};
  Command copy, fill;
  copy.work = CopyCommand{{0, 0, bytes, false}, {0, 8, bytes, true}};
  fill.work = FillCommand{{0, 0, bytes, false}};
  std::vector<Completion> completions;
  device.start(copy, frame, 7);
  finish(device, 1, completions);
  EXPECT_EQ(completions[0].ticket, 7u);
  EXPECT_EQ(0, std::memcmp(arenas->base(0), arenas->base(0) + (3 << 20) + 8,
                           size_t(bytes)));
  device.start(fill, frame, 8);
  finish(device, 2, completions);
  for (int64_t i = 0; i < bytes; ++i)
    ASSERT_EQ(arenas->base(0)[i], std::byte(0));
}

TEST(CpuDeviceTest, NamesMissingKernels) {
  Result<std::vector<KernelFunction>> kernels =
      loadKernels("/nowhere/kernels.so", {"k0"});
  ASSERT_FALSE(bool(kernels));
  EXPECT_NE(kernels.error().message.find("/nowhere/kernels.so"),
            std::string::npos);
  kernels = loadKernels(SMP_REGRESSION_KERNELS, {"count", "nothing"});
  ASSERT_FALSE(bool(kernels));
  EXPECT_NE(kernels.error().message.find("a kernel 'nothing'"),
            std::string::npos);
}
