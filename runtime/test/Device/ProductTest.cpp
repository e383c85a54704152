//===- ProductTest.cpp - Products against plain loops ---------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Support/Signals.h"
#include "smp/runtime/Device/CpuDevice.h"

#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <sys/time.h>

using namespace smp;
using namespace smp::runtime;

namespace {

struct Matrices {
  std::vector<float> a, b, c;
};

Matrices randomMatrices(const ProductCommand &p, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  auto make = [&](int64_t entries, int64_t stride, int64_t rows, int64_t lead) {
    std::vector<float> values(size_t((entries - 1) * stride + rows * lead));
    for (float &value : values)
      value = uniform(random);
    return values;
  };
  return {make(p.batch, p.strideA, p.transposeA ? p.k : p.m, p.lda),
          make(p.batch / p.divideB, p.strideB, p.transposeB ? p.n : p.k, p.ldb),
          make(p.batch / p.sumBatch, p.strideC, p.m, p.ldc)};
}

void plainProduct(const ProductCommand &p, Matrices &x) {
  for (int64_t e = 0; e < p.batch; ++e)
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < p.n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < p.k; ++l)
          sum += double(x.a[e * p.strideA +
                            (p.transposeA ? l * p.lda + i : i * p.lda + l)]) *
                 x.b[e / p.divideB * p.strideB +
                     (p.transposeB ? j * p.ldb + l : l * p.ldb + j)];
        float &c = x.c[e / p.sumBatch * p.strideC + i * p.ldc + j];
        bool add = p.accumulate || e % p.sumBatch != 0;
        c = float(add ? c + sum : sum);
      }
}

ProductCommand shape(int64_t m, int64_t n, int64_t k, bool ta, bool tb) {
  ProductCommand p;
  p.m = m, p.n = n, p.k = k;
  p.transposeA = ta, p.transposeB = tb;
  p.lda = (ta ? m : k) + 1, p.ldb = (tb ? k : n) + 2, p.ldc = n + 3;
  p.tileM = 4, p.tileN = 5;
  return p;
}

void batch(ProductCommand &p, int64_t entries) {
  p.batch = entries;
  p.strideA = (p.transposeA ? p.k : p.m) * p.lda;
  p.strideB = (p.transposeB ? p.n : p.k) * p.ldb;
  p.strideC = p.m * p.ldc;
}

void expectPlain(const ProductCommand &p, unsigned seed) {
  Matrices actual = randomMatrices(p, seed), expected = actual;
  runProduct(p, actual.a.data(), actual.b.data(), actual.c.data(), 0,
             tilesOf(p));
  plainProduct(p, expected);
  for (size_t i = 0; i < actual.c.size(); ++i)
    ASSERT_NEAR(actual.c[i], expected.c[i], 1e-5) << "element " << i;
}

} // namespace

TEST(ProductTest, EqualsPlainLoops) {
  unsigned seed = 0;
  for (bool ta : {false, true})
    for (bool tb : {false, true})
      for (bool add : {false, true}) {
        ProductCommand p = shape(11, 13, 7, ta, tb);
        p.accumulate = add;
        expectPlain(p, ++seed);
        batch(p, 3);
        expectPlain(p, ++seed);
      }
}

TEST(ProductTest, SharesTheRightOperandOfGroups) {
  ProductCommand p = shape(6, 9, 5, false, true);
  batch(p, 6);
  p.divideB = 3;
  expectPlain(p, 1);
}

TEST(ProductTest, AddsEntriesOfAGroupInOrder) {
  for (bool add : {false, true}) {
    ProductCommand p = shape(6, 9, 5, true, false);
    batch(p, 6);
    p.sumBatch = 2;
    p.accumulate = add;
    expectPlain(p, 2);
    EXPECT_EQ(tilesOf(p), 3 * 2 * 2);
  }
}

TEST(ProductTest, TilesDoNotDependOnWhoComputesThem) {
  ProductCommand p = shape(64, 96, 200, false, false);
  Matrices whole = randomMatrices(p, 3), pieces = whole;
  runProduct(p, whole.a.data(), whole.b.data(), whole.c.data(), 0, tilesOf(p));
  for (int64_t tile = tilesOf(p) - 1; tile >= 0; --tile)
    runProduct(p, pieces.a.data(), pieces.b.data(), pieces.c.data(), tile,
               tile + 1);
  EXPECT_EQ(0, std::memcmp(whole.c.data(), pieces.c.data(),
                           whole.c.size() * sizeof(float)));
}

static volatile sig_atomic_t signalsSeen = 0;

TEST(ProductTest, IsNotDisturbedByHandlers) {
  handleSignal(SIGALRM, [](int) { signalsSeen = signalsSeen + 1; }, SA_RESTART);
  ProductCommand p = shape(200, 200, 200, false, false);
  p.tileM = p.tileN = 200;
  Matrices alone = randomMatrices(p, 4);
  runProduct(p, alone.a.data(), alone.b.data(), alone.c.data(), 0, 1);
  itimerval often = {{0, 500}, {0, 500}}, never = {};
  setitimer(ITIMER_REAL, &often, nullptr);
  for (int i = 0; signalsSeen < 200 && i < 20000; ++i) {
    Matrices now = randomMatrices(p, 4);
    runProduct(p, now.a.data(), now.b.data(), now.c.data(), 0, 1);
    ASSERT_EQ(0, std::memcmp(now.c.data(), alone.c.data(),
                             alone.c.size() * sizeof(float)));
  }
  setitimer(ITIMER_REAL, &never, nullptr);
  std::signal(SIGALRM, SIG_DFL);
  EXPECT_GE(signalsSeen, 200);
}
