//===- RegressionKernels.c - Kernels of the hand-made test job ------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same ABI as generated code. Compiled to the kernels.so of the job that
// RegressionJob.cpp writes.
//
//===----------------------------------------------------------------------===//

#include <stdint.h>

typedef struct {
  uint64_t seed;
  int64_t step, microbatch, sampleOffset, axis[3];
  double learningRate, biasCorrection1, biasCorrection2, lossScale;
  int64_t skip;
} StepState;

/// count += elements of the microbatch.
void count(void *const *buffers, const int64_t *immediates,
           const StepState *state, int64_t begin, int64_t end) {
  *(double *)buffers[0] += (double)immediates[0];
}

/// h[row] += a number that depends on the sample alone.
void noise(void *const *buffers, const int64_t *immediates,
           const StepState *state, int64_t begin, int64_t end) {
  float *h = buffers[0];
  for (int64_t row = begin; row < end; ++row)
    for (int64_t i = 0; i < immediates[0]; ++i)
      h[row * immediates[0] + i] +=
          0.01f * (float)((state->sampleOffset + row) % 7);
}

/// dy = 2 (y - target) / count, loss += sum((y - target)^2) / count.
void error(void *const *buffers, const int64_t *immediates,
           const StepState *state, int64_t begin, int64_t end) {
  const float *y = buffers[0], *target = buffers[1];
  float scale = (float)(1.0 / *(const double *)buffers[2]);
  float *dy = buffers[3], *loss = buffers[4], sum = 0;
  for (int64_t i = 0; i < immediates[0]; ++i) {
    float e = y[i] - target[i];
    dy[i] = 2 * e * scale;
    sum += e * e;
  }
  *loss += sum * scale;
}

/// sum += weighted squared errors, count += weighted elements.
void evaluate(void *const *buffers, const int64_t *immediates,
              const StepState *state, int64_t begin, int64_t end) {
  const float *y = buffers[0], *target = buffers[1], *weight = buffers[2];
  double *scalars = buffers[3];
  for (int64_t row = 0; row < immediates[0]; ++row) {
    for (int64_t i = 0; i < immediates[1]; ++i) {
      double e = y[row * immediates[1] + i] - target[row * immediates[1] + i];
      scalars[0] += weight[row] * e * e;
    }
    scalars[1] += weight[row] * (double)immediates[1];
  }
}

/// v = 0.9 v + gradient, parameter -= rate v.
void sgd(void *const *buffers, const int64_t *immediates,
         const StepState *state, int64_t begin, int64_t end) {
  const float *gradient = buffers[0];
  float *parameter = buffers[1], *momentum = buffers[2];
  for (int64_t i = begin; i < end; ++i) {
    momentum[i] = 0.9f * momentum[i] + gradient[i];
    parameter[i] -= (float)state->learningRate * momentum[i];
  }
}

/// logits[position][v] is 3 for the successor of the token there, else less.
void successor(void *const *buffers, const int64_t *immediates,
               const StepState *state, int64_t begin, int64_t end) {
  const int64_t *tokens = buffers[0];
  float *logits = buffers[1];
  int64_t vocabulary = immediates[0];
  for (int64_t i = begin; i < end; ++i)
    for (int64_t v = 0; v < vocabulary; ++v)
      logits[i * vocabulary + v] =
          v == (tokens[i] + 1) % vocabulary ? 3.0f : (float)(v % 3) - 1.0f;
}
