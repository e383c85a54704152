//===- CpuDevice.cpp - Commands on the cores of this host -----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Device/CpuDevice.h"

#include <algorithm>
#include <alloca.h>
#include <cstring>
#include <dlfcn.h>
#include <tuple>

using namespace smp;
using namespace smp::runtime;

/// Bytes that one tile of a copy or fill moves.
static constexpr int64_t moveTile = int64_t(1) << 20;

Result<std::vector<KernelFunction>>
runtime::loadKernels(const std::string &path,
                     const std::vector<std::string> &symbols) {
  std::vector<KernelFunction> kernels;
  if (symbols.empty())
    return kernels;
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Error{std::string("cannot load the kernels: ") + dlerror(),
                 "the job folder is damaged or of another machine: compile "
                 "the job again"};
  for (const std::string &symbol : symbols) {
    void *address = dlsym(library, symbol.c_str());
    if (!address)
      return Error{"'" + path + "': expects a kernel '" + symbol +
                   "', got none"};
    kernels.push_back(reinterpret_cast<KernelFunction>(address));
  }
  return kernels;
}

namespace {

/// Computes tiles [begin, end). Addresses stand on the stack of the thread:
/// they are few, and nobody has to keep them until the command is complete.
void runKernel(KernelFunction function, const KernelCommand &command,
               const Frame &frame, int64_t begin, int64_t end) {
  size_t count = command.buffers.size();
  auto *addresses = static_cast<void **>(alloca((count + 1) * sizeof(void *)));
  for (size_t i = 0; i < count; ++i)
    addresses[i] = frame.address(command.buffers[i]);
  function(addresses, command.immediates.data(), &frame.state, begin, end);
}

/// Starts each kind of command on the pool.
struct Starter {
  ThreadPool &pool;
  const std::vector<KernelFunction> &kernels;
  const std::map<const ConvolutionCommand *, std::shared_ptr<Convolution>>
      &convolutions;
  const Frame &frame;
  uint64_t ticket;

  void operator()(const KernelCommand &command) {
    pool.start(
        [function = kernels[command.kernel], &command,
         &frame = frame](int64_t begin, int64_t end) {
          runKernel(function, command, frame, begin, end);
        },
        command.tiles, ticket);
  }

  void operator()(const ProductCommand &command) {
    auto *a = static_cast<const float *>(frame.address(command.a));
    auto *b = static_cast<const float *>(frame.address(command.b));
    auto *c = static_cast<float *>(frame.address(command.c));
    pool.start(
        [&command, a, b, c](int64_t begin, int64_t end) {
          runProduct(command, a, b, c, begin, end);
        },
        tilesOf(command), ticket);
  }

  void operator()(const ConvolutionCommand &command) {
    auto *a = static_cast<const float *>(frame.address(command.a));
    auto *b = static_cast<const float *>(frame.address(command.b));
    auto *c = static_cast<float *>(frame.address(command.c));
    auto *scratch = static_cast<float *>(frame.address(command.scratch));
    const Convolution &convolution = *convolutions.at(&command);
    pool.start(
        [&convolution, a, b, c, scratch](int64_t begin, int64_t end) {
          convolution.run(a, b, c, scratch, begin, end);
        },
        command.tiles, ticket);
  }

  void operator()(const CopyCommand &command) {
    auto *from = static_cast<const char *>(frame.address(command.from));
    auto *to = static_cast<char *>(frame.address(command.to));
    move(command.from.bytes, [from, to](int64_t offset, int64_t bytes) {
      std::memcpy(to + offset, from + offset, size_t(bytes));
    });
  }

  void operator()(const FillCommand &command) {
    auto *to = static_cast<char *>(frame.address(command.to));
    move(command.to.bytes, [to](int64_t offset, int64_t bytes) {
      std::memset(to + offset, 0, size_t(bytes));
    });
  }

  /// Collectives belong to the executor; the reader keeps them off our queues.
  void operator()(const CollectiveCommand &) { std::abort(); }

  template <typename Move> void move(int64_t bytes, Move body) {
    pool.start(
        [bytes, body](int64_t begin, int64_t end) {
          int64_t last = std::min(end * moveTile, bytes);
          body(begin * moveTile, last - begin * moveTile);
        },
        std::max<int64_t>((bytes + moveTile - 1) / moveTile, 1), ticket);
  }
};

} // namespace

/// What commands have in common that one convolution can serve: all but where
/// their operands lie.
static auto kindOf(const ConvolutionCommand &c) {
  return std::tuple(c.pass, c.rows, c.groups, c.tiles, c.input, c.output,
                    c.kernel, c.stride, c.padding, c.dilation, c.scratch.bytes);
}

Status CpuDevice::prepare(const RankJob &rankJob) {
  size_t commands = 0;
  for (const Program &program : rankJob.programs)
    commands = std::max(commands, program.commands.size());
  pool.reserve(commands);
  std::map<decltype(kindOf({})), std::shared_ptr<Convolution>> kinds;
  for (const Program &program : rankJob.programs)
    for (const Command &command : program.commands)
      if (auto *work = std::get_if<ConvolutionCommand>(&command.work)) {
        std::shared_ptr<Convolution> &convolution = kinds[kindOf(*work)];
        if (!convolution) {
          SMP_ASSIGN_OR_RETURN(convolution,
                               Convolution::create(*work, threads));
        }
        convolutions[work] = convolution;
      }
  return {};
}

void CpuDevice::start(const Command &command, const Frame &frame,
                      uint64_t ticket) {
  std::visit(Starter{pool, kernels, convolutions, frame, ticket}, command.work);
}
