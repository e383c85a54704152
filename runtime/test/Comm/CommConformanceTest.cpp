//===- CommConformanceTest.cpp - What every transport must do -------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Worlds.h"
#include "smp/Support/Hash.h"
#include <array>

using namespace smp;
using namespace smp::runtime;

/// A number that differs by rank and index and makes sums round.
template <typename T> static T contribution(int rank, int64_t index) {
  uint64_t bits = splitmix64(static_cast<uint64_t>(rank) << 40 | index);
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(bits);
  else
    return static_cast<T>(static_cast<int64_t>(bits) >> 11) *
           std::array<T, 4>{1, 0x1p-20f, 0x1p-40f, 0x1p-60f}[bits & 3];
}

template <typename T>
static T orderedSum(const std::vector<int> &ranks, int64_t index) {
  T sum = contribution<T>(ranks[0], index);
  for (size_t i = 1; i < ranks.size(); ++i) {
    if constexpr (std::is_integral_v<T>)
      sum = static_cast<T>(
          static_cast<uint64_t>(sum) +
          static_cast<uint64_t>(contribution<T>(ranks[i], index)));
    else
      sum += contribution<T>(ranks[i], index);
  }
  return sum;
}

template <typename T>
static std::vector<T> contributions(int rank, int64_t count) {
  std::vector<T> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = contribution<T>(rank, i);
  return values;
}

template <typename T>
static void checkAllReduce(Comm &comm, const Group &group, DataType type,
                           int64_t count) {
  std::vector<T> values = contributions<T>(comm.rank(), count);
  expectSuccess(comm.wait(comm.allReduce(group, type, values.data(), count)));
  for (int64_t i = 0; i < count; ++i)
    ASSERT_EQ(values[i], orderedSum<T>(group.members(), i)) << i;
}

TEST(CommConformance, AllReduceAddsInRankOrderWhateverTheSize) {
  forEachWorld([](Comm &comm) {
    for (int64_t count : {0, 1, 2, 5, 1000, 1025, 4096, 10003}) {
      checkAllReduce<float>(comm, comm.world(), DataType::F32, count);
      checkAllReduce<double>(comm, comm.world(), DataType::F64, count);
      checkAllReduce<int64_t>(comm, comm.world(), DataType::I64, count);
    }
    // Longer than one piece.
    checkAllReduce<float>(comm, comm.world(), DataType::F32, 1048577);
  });
}

TEST(CommConformance, CuttingABufferChangesNoBit) {
  forEachWorld([](Comm &comm) {
    constexpr int64_t count = 5000;
    auto whole = contributions<float>(comm.rank(), count), parts = whole;
    expectSuccess(comm.wait(
        comm.allReduce(comm.world(), DataType::F32, whole.data(), count)));
    std::vector<Request> requests;
    for (int64_t begin = 0, size = 1; begin < count; begin += size, size *= 3)
      requests.push_back(comm.allReduce(comm.world(), DataType::F32,
                                        parts.data() + begin,
                                        std::min(size, count - begin)));
    for (const Request &request : requests)
      expectSuccess(comm.wait(request));
    EXPECT_EQ(whole, parts);
  });
}

TEST(CommConformance, ReduceScatterGivesOwnSlice) {
  forEachWorld([](Comm &comm) {
    for (int64_t count : {0, 1, 7, 150000}) {
      const Group &world = comm.world();
      auto values = contributions<float>(comm.rank(), count * world.size());
      expectSuccess(comm.wait(
          comm.reduceScatter(world, DataType::F32, values.data(), count)));
      int64_t begin = count * world.rank();
      for (int64_t i = begin; i < begin + count; ++i)
        ASSERT_EQ(values[i], orderedSum<float>(world.members(), i));
    }
  });
}

TEST(CommConformance, AllGatherAndBroadcast) {
  forEachWorld([](Comm &comm) {
    const Group &world = comm.world();
    for (int64_t count : {0, 1, 9, 530000}) {
      std::vector<double> all(count * world.size(), -1);
      for (int64_t i = 0; i < count; ++i)
        all[count * comm.rank() + i] = contribution<double>(comm.rank(), i);
      expectSuccess(
          comm.wait(comm.allGather(world, DataType::F64, all.data(), count)));
      for (int rank = 0; rank < world.size(); ++rank)
        for (int64_t i = 0; i < count; ++i)
          ASSERT_EQ(all[count * rank + i], contribution<double>(rank, i));
      for (int root = 0; root < world.size(); ++root) {
        auto values = contributions<float>(comm.rank(), count);
        expectSuccess(comm.wait(
            comm.broadcast(world, DataType::F32, values.data(), count, root)));
        ASSERT_EQ(values, contributions<float>(root, count));
      }
    }
  });
}

/// Two groups per rank, overlapping in the world, with operations of both in
/// flight at once and started in different orders on different ranks.
TEST(CommConformance, GroupsProgressIndependently) {
  forEachWorld([](Comm &comm) {
    std::vector<int> parity, neighbours;
    for (int rank = 0; rank < comm.size(); ++rank) {
      if (rank % 2 == comm.rank() % 2)
        parity.push_back(rank);
      if (rank / 2 == comm.rank() / 2)
        neighbours.push_back(rank);
    }
    auto first = comm.createGroup(parity, 1);
    auto second = comm.createGroup(neighbours, 2);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->globalRank(first->rank()), comm.rank());
    for (int round = 0; round < 20; ++round) {
      auto a = contributions<float>(comm.rank(), 3000), b = a, c = a;
      std::vector<Request> requests(3);
      auto start = [&](int which) {
        const Group &group = which == 0   ? *first
                             : which == 1 ? *second
                                          : comm.world();
        std::vector<float> &values = which == 0 ? a : which == 1 ? b : c;
        requests[which] = comm.allReduce(group, DataType::F32, values.data(),
                                         static_cast<int64_t>(values.size()));
      };
      for (int i = 0; i < 3; ++i)
        start((i + comm.rank() + round) % 3);
      for (const Request &request : requests)
        expectSuccess(comm.wait(request));
      ASSERT_EQ(a[7], orderedSum<float>(parity, 7));
      ASSERT_EQ(b[7], orderedSum<float>(neighbours, 7));
      ASSERT_EQ(c[7], orderedSum<float>(comm.world().members(), 7));
    }
  });
}

TEST(CommConformance, ABarrierHoldsItsOwnGroupOnly) {
  forEachWorld([](Comm &comm) {
    if (comm.size() < 3)
      return;
    // Rank 0 is in a group of its own and never enters the other barrier.
    std::vector<int> others;
    for (int rank = 1; rank < comm.size(); ++rank)
      others.push_back(rank);
    auto group =
        comm.createGroup(comm.rank() == 0 ? std::vector<int>{0} : others, 1);
    ASSERT_TRUE(group);
    if (comm.rank() > 0)
      expectSuccess(comm.wait(comm.barrier(*group)));
    // Rank 0 comes last of all, and the others are through already.
    char token = 0;
    if (comm.rank() == 1)
      expectSuccess(comm.wait(comm.send(0, 0, &token, 1)));
    if (comm.rank() == 0) {
      expectSuccess(comm.wait(comm.receive(1, 0, &token, 1)));
      expectSuccess(comm.wait(comm.barrier(*group)));
    }
  });
}

TEST(CommConformance, BarrierWaitsForEveryMember) {
  forEachWorld([](Comm &comm) {
    if (comm.size() == 1)
      return;
    const Group &world = comm.world();
    // Rank 0 enters only after it has heard from the last rank, which sends
    // after it has seen its own barrier incomplete.
    int last = comm.size() - 1;
    char token = 0;
    if (comm.rank() == 0) {
      expectSuccess(comm.wait(comm.receive(last, 0, &token, 1)));
      expectSuccess(comm.wait(comm.barrier(world)));
      return;
    }
    Request barrier = comm.barrier(world);
    // Only the last rank knows that rank 0 has not entered yet.
    for (int i = 0; i < 50 && comm.rank() == last; ++i) {
      Result<bool> complete = comm.test(barrier);
      ASSERT_TRUE(complete);
      ASSERT_FALSE(*complete);
    }
    if (comm.rank() == last)
      expectSuccess(comm.wait(comm.send(0, 0, &token, 1)));
    expectSuccess(comm.wait(barrier));
  });
}

TEST(CommConformance, TransfersAreFifoPerChannelAndDirection) {
  forEachWorld([](Comm &comm) {
    int peer = comm.rank() ^ 1;
    if (peer >= comm.size())
      return;
    constexpr int64_t messages = 20, channels = 3;
    std::vector<int64_t> out(messages * channels), in(out.size(), -1);
    std::vector<Request> requests;
    for (int m = 0; m < messages; ++m)
      for (int c = 0; c < channels; ++c) {
        int64_t i = m * channels + c;
        out[i] = int64_t(comm.rank()) * 1000 + i;
        requests.push_back(comm.send(peer, c, &out[i], sizeof out[i]));
      }
    // Channels are asked in another order than they were sent.
    for (int c = channels - 1; c >= 0; --c)
      for (int m = 0; m < messages; ++m)
        requests.push_back(
            comm.receive(peer, c, &in[m * channels + c], sizeof in[0]));
    for (const Request &request : requests)
      expectSuccess(comm.wait(request));
    for (size_t i = 0; i < in.size(); ++i)
      EXPECT_EQ(in[i], int64_t(peer) * 1000 + static_cast<int64_t>(i));
  });
}

TEST(CommConformance, ASendIsCompleteOnlyWhenItIsTaken) {
  forEachWorld([](Comm &comm) {
    if (comm.size() < 2 || comm.rank() > 1)
      return;
    int value = 42, token = 0;
    if (comm.rank() == 0) {
      Request send = comm.send(1, 0, &value, sizeof value);
      for (int i = 0; i < 200; ++i) {
        Result<bool> complete = comm.test(send);
        ASSERT_TRUE(complete);
        ASSERT_FALSE(*complete);
      }
      expectSuccess(comm.wait(comm.send(1, 1, &token, sizeof token)));
      expectSuccess(comm.wait(send));
    } else {
      expectSuccess(comm.wait(comm.receive(0, 1, &token, sizeof token)));
      expectSuccess(comm.wait(comm.receive(0, 0, &value, sizeof value)));
      EXPECT_EQ(value, 42);
    }
  });
}

TEST(CommConformance, LargeAndEmptyTransfers) {
  forEachWorld([](Comm &comm) {
    int next = (comm.rank() + 1) % comm.size();
    int previous = (comm.rank() + comm.size() - 1) % comm.size();
    if (comm.size() == 1)
      return;
    for (int64_t count : {0, 3, 1000, 300000}) {
      auto out = contributions<float>(comm.rank(), count);
      std::vector<float> in(count);
      Request receive = comm.receive(previous, 5, in.data(), count * 4);
      Request send = comm.send(next, 5, out.data(), count * 4);
      expectSuccess(comm.wait(send));
      expectSuccess(comm.wait(receive));
      ASSERT_EQ(in, contributions<float>(previous, count));
    }
  });
}

TEST(CommConformance, Objects) {
  forEachWorld([](Comm &comm) {
    std::string own(size_t(comm.rank()) * 3,
                    static_cast<char>('a' + comm.rank()));
    auto all = comm.allGatherObjects(comm.world(), own);
    ASSERT_TRUE(all);
    for (int rank = 0; rank < comm.size(); ++rank)
      EXPECT_EQ((*all)[rank],
                std::string(size_t(rank) * 3, static_cast<char>('a' + rank)));
    for (int root = 0; root < comm.size(); ++root) {
      auto text = comm.broadcastObject(
          comm.world(), comm.rank() == root ? "from the root" : own, root);
      ASSERT_TRUE(text);
      EXPECT_EQ(*text, "from the root");
    }
    if (comm.size() > 1 && comm.rank() == 0)
      expectSuccess(comm.sendObject(comm.size() - 1, "hello"));
    if (comm.size() > 1 && comm.rank() == comm.size() - 1) {
      auto text = comm.receiveObject(0);
      ASSERT_TRUE(text);
      EXPECT_EQ(*text, "hello");
    }
  });
}

TEST(CommConformance, MistakesAreErrorsOfTheOperation) {
  forEachWorld([](Comm &comm) {
    float value = 0;
    auto messageOf = [&](const Request &request) {
      Status status = comm.wait(request);
      return status ? std::string() : status.error().message;
    };
    EXPECT_EQ(
        messageOf(comm.allReduce(comm.world(), DataType::BF16, &value, 1)),
        "a sum over ranks expects f32, f64 or i64, got bf16");
    EXPECT_NE(messageOf(comm.broadcast(comm.world(), DataType::F32, &value, 1,
                                       comm.size())),
              "");
    EXPECT_NE(messageOf(comm.send(comm.rank(), 0, &value, 4)), "");
    EXPECT_NE(messageOf(comm.receive(comm.size(), 0, &value, 4)), "");
    EXPECT_NE(messageOf(comm.receive(-1, 0, &value, 4)), "");
    EXPECT_FALSE(comm.createGroup({comm.rank()}, 0));
    EXPECT_FALSE(comm.createGroup({comm.rank(), comm.rank()}, 1));
    EXPECT_FALSE(comm.createGroup({comm.rank(), comm.size()}, 1));
    EXPECT_FALSE(comm.createGroup({}, 1));
    EXPECT_TRUE(*comm.test(Request()));
  });
}
