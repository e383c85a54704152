//===- Products.cpp - Products by one-thread library calls ----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OneThread.h"
#include "smp/runtime/Device/CpuDevice.h"
#include "smp/runtime/Trace/Trace.h"

#include <algorithm>
#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>

using namespace smp;
using namespace smp::runtime;

/// The library splits a call over OpenMP threads of its own; that number is
/// kept per calling thread, so each of ours sets it to one. Looked up by name:
/// we do not compile with OpenMP, and a library built without needs nothing.
void runtime::useOneThread() {
  static thread_local bool done = [] {
    using Setter = void (*)(int);
    if (void *symbol = dlsym(RTLD_DEFAULT, "omp_set_num_threads"))
      reinterpret_cast<Setter>(symbol)(1);
    return true;
  }();
  (void)done;
}

static int64_t tilesAlong(int64_t extent, int64_t tile) {
  return (extent + tile - 1) / tile;
}

int64_t runtime::tilesOf(const ProductCommand &p) {
  return p.batch / p.sumBatch * tilesAlong(p.m, p.tileM) *
         tilesAlong(p.n, p.tileN);
}

/// One tile: the rows from `row` and columns from `column` of C's `entry`.
static void runTile(const ProductCommand &p, const float *a, const float *b,
                    float *c, int64_t entry, int64_t row, int64_t column) {
  int64_t rows = std::min(p.tileM, p.m - row);
  int64_t columns = std::min(p.tileN, p.n - column);
  float *target = c + entry * p.strideC + row * p.ldc + column;
  for (int64_t i = entry * p.sumBatch; i < (entry + 1) * p.sumBatch; ++i) {
    const float *left = a + i * p.strideA + (p.transposeA ? row : row * p.lda);
    const float *right = b + i / p.divideB * p.strideB +
                         (p.transposeB ? column * p.ldb : column);
    bool add = p.accumulate || i > entry * p.sumBatch;
    dnnl_sgemm(p.transposeA ? 'T' : 'N', p.transposeB ? 'T' : 'N', rows,
               columns, p.k, 1.0f, left, p.lda, right, p.ldb, add ? 1.0f : 0.0f,
               target, p.ldc);
  }
}

void runtime::runProduct(const ProductCommand &p, const float *a,
                         const float *b, float *c, int64_t begin, int64_t end) {
  useOneThread();
  int64_t alongM = tilesAlong(p.m, p.tileM), alongN = tilesAlong(p.n, p.tileN);
  for (int64_t tile = begin; tile < end; ++tile)
    runTile(p, a, b, c, tile / (alongM * alongN),
            tile / alongN % alongM * p.tileM, tile % alongN * p.tileN);
}

double runtime::measurePeak() {
  ProductCommand p;
  p.m = p.n = p.k = 384;
  p.lda = p.ldb = p.ldc = 384;
  p.tileM = p.tileN = 384;
  std::vector<float> a(384 * 384, 0.5f), b(384 * 384, 0.25f), c(384 * 384);
  double best = 0;
  for (int i = 0; i < 6; ++i) {
    double begin = traceNow();
    runProduct(p, a.data(), b.data(), c.data(), 0, 1);
    double seconds = (traceNow() - begin) * 1e-6;
    if (seconds > 0)
      best = std::max(best, 2.0 * 384 * 384 * 384 / seconds);
  }
  return best;
}
