//===- CpuDevice.h - Commands on the cores of this host ---------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels come from the job's shared object, products and convolutions from
// oneDNN: one call per tile and thread, because the library's own OpenMP
// threads collapse when another process shares a core. Tiles are fixed by the
// compiler, so results do not depend on the number of threads.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_DEVICE_CPUDEVICE_H
#define SMP_RUNTIME_DEVICE_CPUDEVICE_H

#include "smp/runtime/Device/Convolution.h"
#include "smp/runtime/Device/ThreadPool.h"

#include <map>

namespace smp::runtime {

/// The ABI of generated kernels.
using KernelFunction = void (*)(void *const *buffers, const int64_t *immediates,
                                const StepState *state, int64_t begin,
                                int64_t end);

/// The kernels of a job. The library stays loaded until the process ends.
Result<std::vector<KernelFunction>>
loadKernels(const std::string &path, const std::vector<std::string> &symbols);

class CpuDevice final : public Device {
public:
  CpuDevice(std::vector<KernelFunction> kernels, int threads)
      : kernels(std::move(kernels)), threads(threads), pool(threads) {}

  /// Makes what the library needs for the convolutions of a rank, before any
  /// of them is started, and room for the commands of a launch. `rankJob`
  /// outlives the device.
  Status prepare(const RankJob &rankJob);

  void start(const Command &command, const Frame &frame,
             uint64_t ticket) override;
  bool work() override { return pool.work(); }
  void poll(std::vector<Completion> &completions) override {
    pool.poll(completions);
  }
  void wait(int microseconds) override { pool.wait(microseconds); }

private:
  std::vector<KernelFunction> kernels;
  std::map<const ConvolutionCommand *, std::shared_ptr<Convolution>>
      convolutions;
  int threads;
  ThreadPool pool;
};

/// Tiles of a product: over C's batch entries, M and N.
int64_t tilesOf(const ProductCommand &product);

/// Computes tiles [begin, end) on the calling thread alone.
void runProduct(const ProductCommand &product, const float *a, const float *b,
                float *c, int64_t begin, int64_t end);

/// The f32 peak of one thread as measured in a few milliseconds, FLOP/s.
double measurePeak();

} // namespace smp::runtime

#endif // SMP_RUNTIME_DEVICE_CPUDEVICE_H
