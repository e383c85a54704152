//===- Job.h - A compiled job as the runtime sees it ------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plain data: the manifest (job.json), and what one pipeline rank executes
// (rank-<p>.json and the programs of its chunks). Nothing here computes; the
// reader (JobReader.h) fills it and guarantees the invariants stated below, so
// that executor and checker need no checks of their own.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_JOB_JOB_H
#define SMP_RUNTIME_JOB_JOB_H

#include "smp/Support/Config.h"
#include "smp/Support/DataType.h"
#include "smp/Support/Grid.h"
#include "smp/Support/Initializers.h"
#include "smp/runtime/Data/Dataset.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace smp::runtime {

/// A fixed place in the arenas of one pipeline rank.
struct BufferRef {
  unsigned arena = 0;
  int64_t offset = 0;
  int64_t bytes = 0;
};

/// A place as a command names it; with `slotted` the launch chooses the slot.
/// Invariant: offset + bytes lies inside one slot of the arena.
struct Operand {
  unsigned arena = 0;
  int64_t offset = 0;
  int64_t bytes = 0;
  bool slotted = false;
};

struct KernelCommand {
  unsigned kernel = 0; ///< index into Job::kernelSymbols
  std::vector<Operand> buffers;
  std::vector<int64_t> immediates;
  int64_t tiles = 0;
};

/// C[m,n] = op(A)[m,k] op(B)[k,n] + beta C for each batch entry, row-major f32.
/// Entry e reads A at e·strideA and B at (e / divideB)·strideB and adds to C at
/// (e / sumBatch)·strideC; entries of one C are added in ascending order.
struct ProductCommand {
  int64_t m = 0, n = 0, k = 0, batch = 1;
  int64_t lda = 0, ldb = 0, ldc = 0;
  int64_t strideA = 0, strideB = 0, strideC = 0;
  int64_t divideB = 1, sumBatch = 1;
  int64_t tileM = 0, tileN = 0;
  bool transposeA = false, transposeB = false, accumulate = false;
  Operand a, b, c;
};

enum class ConvolutionPass { Forward, BackwardData, BackwardWeights };

/// A convolution of `rows` dense f32 images [C, H, W] to [O, H', W'] with
/// kernels [O, C / groups, KH, KW], or one of its gradients:
///
///   pass              a        b        c
///   forward           input    kernels  output
///   backward data     output   kernels  input
///   backward weights  output   input    kernels, once for each tile
///
/// Tiles are equal parts of the rows; each has as much of the scratch.
/// Invariants: the sizes are those of a convolution, tiles divide the rows.
struct ConvolutionCommand {
  ConvolutionPass pass = ConvolutionPass::Forward;
  int64_t rows = 0, groups = 1, tiles = 1;
  std::array<int64_t, 3> input = {}, output = {};
  std::array<int64_t, 2> kernel = {}, stride = {}, padding = {}, dilation = {};
  Operand a, b, c, scratch;
};

enum class CollectiveOp { AllReduce, Broadcast, AllGather, ReduceScatter };

struct CollectiveCommand {
  CollectiveOp op = CollectiveOp::AllReduce;
  unsigned group = 0; ///< index into Job::groups
  DataType type = DataType::F32;
  int64_t count = 0;
  Operand buffer;
  unsigned root = 0; ///< position in the group, of a broadcast
};

struct CopyCommand {
  Operand from, to;
};

/// Writes zero bytes.
struct FillCommand {
  Operand to;
};

struct Queue {
  enum Kind { Compute, Copy, Group } kind = Compute;
  unsigned group = 0;
};

struct Command {
  Queue queue;
  std::vector<unsigned> waits; ///< earlier commands of the program, ascending
  std::vector<Operand> reads, writes; ///< complete
  std::string location, scope;
  std::variant<KernelCommand, ProductCommand, ConvolutionCommand,
               CollectiveCommand, CopyCommand, FillCommand>
      work;
};

struct Program {
  std::string name; ///< as in "forward" or "update"
  std::vector<Command> commands;
};

struct LaunchAction {
  unsigned program = 0;              ///< index into RankJob::programs
  int chunk = -1;                    ///< -1: a program of the rank
  std::map<unsigned, int64_t> slots; ///< arena -> slot
};

struct TransferAction {
  bool send = false;
  unsigned peer = 0; ///< pipeline rank
  std::string edge;
  int64_t tag = 0;
  Operand buffer;
  int64_t slot = 0;
};

struct LoadAction {
  unsigned input = 0; ///< index into Job::inputs
  unsigned arena = 0;
  int64_t slot = 0;
};

struct Action {
  int64_t microbatch = 0;
  std::vector<unsigned> waits; ///< earlier actions of the schedule, ascending
  std::variant<LaunchAction, TransferAction, LoadAction> work;
};

struct Schedule {
  std::vector<Action> actions;
};

/// The schedules of a job that a run executes.
struct Phases {
  bool train = true, evaluate = true, predict = true;
};

struct Arena {
  std::string name, kind;
  int64_t stride = 0; ///< bytes of one slot, a multiple of 256
  int64_t slots = 1;
  /// Initial content: a range of constants.bin.
  std::optional<std::pair<int64_t, int64_t>> constants;
  /// Bytes that training, evaluation and prediction reach; none: all of it is
  /// there whatever is executed.
  std::optional<std::array<int64_t, 3>> used;

  int64_t bytes() const { return stride * slots; }
  /// What a run of these phases needs.
  int64_t bytes(const Phases &phases) const {
    if (!used)
      return bytes();
    auto [train, evaluate, predict] = *used;
    return std::max({phases.train ? train : 0, phases.evaluate ? evaluate : 0,
                     phases.predict ? predict : 0});
  }
};

/// What one pipeline rank executes.
struct RankJob {
  unsigned rank = 0;
  std::vector<Program> programs;
  Schedule train, evaluate, predict;
};

struct JobGroup {
  std::string name;
  AxisGroup axes;
};

/// The places of a parameter on one pipeline rank.
struct ParameterLocation {
  BufferRef parameter;
  std::map<std::string, BufferRef> gradients; ///< by alias
  std::map<std::string, BufferRef> optimizer; ///< by state name
};

struct Parameter {
  std::string name;
  std::vector<std::string> aliases;
  std::vector<int64_t> shape;
  bool requiresGrad = true;
  std::optional<Initializer> init;
  std::vector<std::string> optimizer; ///< state names
  std::vector<unsigned> holders;      ///< the first one saves it
  std::map<unsigned, ParameterLocation> location;

  /// Whether the loss depends on it, and it is not frozen.
  bool isTrained() const {
    return std::ranges::any_of(location, [](const auto &entry) {
      return !entry.second.gradients.empty();
    });
  }
};

struct StateTensor {
  std::string name;
  DataType type = DataType::F32;
  std::vector<int64_t> shape;
  std::optional<Initializer> init;
  std::vector<double> value; ///< inline; empty when `constants` holds it
  std::optional<std::pair<int64_t, int64_t>> constants;
  std::vector<unsigned> holders;
  std::map<unsigned, BufferRef> location;
};

struct Input {
  InputSpec spec;
  std::map<unsigned, unsigned> consumers; ///< pipeline rank -> arena
};

struct Output {
  std::string name;
  unsigned rank = 0;
  DataType type = DataType::F32;
  std::vector<int64_t> shape;
  BufferRef ref;
};

/// A number of the step that the runtime reads.
struct Scalar {
  unsigned rank = 0;
  BufferRef ref;
};

struct DataFormat {
  bool tokens = false; ///< token files; else named arrays
  TokenConvention convention = TokenConvention::Hf;
  int64_t vocabulary = 0; ///< 0: not known
};

struct RankMemory {
  std::vector<Arena> arenas;
  std::vector<unsigned> chunks;
  int64_t peakBytes = 0; ///< sum over the arenas

  /// Exactly what a run of these phases allocates.
  int64_t bytes(const Phases &phases) const {
    int64_t sum = 0;
    for (const Arena &arena : arenas)
      sum += arena.bytes(phases);
    return sum;
  }
};

/// job.json.
struct Job {
  std::string directory, version, model, placement, hash, kernelFile;
  unsigned pp = 1, tp = 1;
  int64_t microbatches = 1, microbatchRows = 1, accumulation = 1;
  Config config;
  std::vector<std::string> cpuFeatures, kernelSymbols;
  std::vector<JobGroup> groups;
  std::vector<Parameter> parameters;
  std::vector<StateTensor> states;
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  DataFormat data;
  std::vector<RankMemory> ranks;
  std::vector<unsigned> chunkRank; ///< chunk -> pipeline rank
  std::map<std::string, Scalar> scalars;
  /// The model came with weights: it must be said what to start from.
  bool needsInit = false;
  double flopsPerStep = 0; ///< of one data owner, forward and backward
};

} // namespace smp::runtime

#endif // SMP_RUNTIME_JOB_JOB_H
