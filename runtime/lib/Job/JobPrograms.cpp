//===- JobPrograms.cpp - Read and check the commands of a program ---------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JobParts.h"

#include <algorithm>
#include <array>

using namespace smp;
using namespace smp::runtime;

namespace {

/// Far below overflow when two of them are multiplied and scaled to bytes.
constexpr int64_t extentLimit = int64_t(1) << 28;

class ProgramReader {
public:
  ProgramReader(const Job &job, unsigned rank)
      : job(job), arenas(job.ranks[rank].arenas), rank(rank) {}

  Command readCommand(const JsonCursor &cursor, size_t id);

private:
  KernelCommand readKernel(const JsonCursor &cursor, const Command &command);
  ProductCommand readProduct(const JsonCursor &cursor, const Command &command);
  ConvolutionCommand readConvolution(const JsonCursor &cursor,
                                     const Command &command);
  void checkImages(const JsonCursor &cursor, const Operand &operand,
                   std::initializer_list<int64_t> sizes);
  CollectiveCommand readCollective(const JsonCursor &cursor,
                                   const Command &command);
  CopyCommand readCopy(const JsonCursor &cursor, const Command &command);
  FillCommand readFill(const JsonCursor &cursor, const Command &command);

  void readQueue(const JsonCursor &cursor, Command &command);
  void checkCovered(const JsonCursor &cursor, const Operand &operand,
                    const std::vector<Operand> &list, const char *what);
  void checkMatrix(const JsonCursor &cursor, const Operand &operand,
                   int64_t rows, int64_t columns, int64_t lead, int64_t batch,
                   int64_t stride);

  const Job &job;
  const std::vector<Arena> &arenas;
  unsigned rank;
};

} // namespace

static bool covers(const Operand &outer, const Operand &inner) {
  return outer.arena == inner.arena && outer.slotted == inner.slotted &&
         outer.offset <= inner.offset &&
         outer.offset + outer.bytes >= inner.offset + inner.bytes;
}

static bool coveredBy(const Operand &operand,
                      const std::vector<Operand> &list) {
  return operand.bytes == 0 ||
         std::ranges::any_of(
             list, [&](const Operand &each) { return covers(each, operand); });
}

/// Checker and poison mode rely on `reads` and `writes` being complete.
void ProgramReader::checkCovered(const JsonCursor &cursor,
                                 const Operand &operand,
                                 const std::vector<Operand> &list,
                                 const char *what) {
  if (!coveredBy(operand, list))
    cursor.fail(std::string("expects a range that the command's '") + what +
                "' cover, got " + std::to_string(operand.bytes) +
                " bytes at offset " + std::to_string(operand.offset) +
                " of arena '" + arenas[operand.arena].name + "'");
}

KernelCommand ProgramReader::readKernel(const JsonCursor &cursor,
                                        const Command &command) {
  KernelCommand kernel;
  kernel.kernel = cursor["kernel"].index(job.kernelSymbols.size(), "a kernel");
  for (const JsonCursor &each : cursor["buffers"].elements()) {
    Operand operand = readOperand(each, arenas);
    if (!coveredBy(operand, command.reads))
      checkCovered(each, operand, command.writes, "reads and writes");
    kernel.buffers.push_back(operand);
  }
  kernel.immediates =
      cursor["immediates"].integers(std::numeric_limits<int64_t>::min());
  kernel.tiles = cursor["tiles"].integer(1);
  return kernel;
}

void ProgramReader::checkMatrix(const JsonCursor &cursor,
                                const Operand &operand, int64_t rows,
                                int64_t columns, int64_t lead, int64_t batch,
                                int64_t stride) {
  if (lead < columns)
    return cursor.fail("expects a leading dimension of at least " +
                       std::to_string(columns) + ", got " +
                       std::to_string(lead));
  int64_t needed = 0, last = 0;
  if (__builtin_mul_overflow(batch - 1, stride, &last) ||
      __builtin_add_overflow((rows - 1) * lead + columns, last, &needed) ||
      __builtin_mul_overflow(needed, int64_t(4), &needed) ||
      needed > operand.bytes)
    return cursor.fail("expects at least " + std::to_string(needed) +
                       " bytes for " + std::to_string(batch) + " x " +
                       std::to_string(rows) + " x " + std::to_string(columns) +
                       " elements, got " + std::to_string(operand.bytes));
  if (operand.offset % 4)
    cursor.fail("expects an offset that is a multiple of 4, got " +
                std::to_string(operand.offset));
}

ProductCommand ProgramReader::readProduct(const JsonCursor &cursor,
                                          const Command &command) {
  auto extent = [&](const char *key, int64_t low) {
    return cursor[key].integer(low, extentLimit);
  };
  auto optional = [&](const char *key) {
    return cursor.has(key) ? extent(key, 1) : 1;
  };
  ProductCommand p;
  p.m = extent("m", 1), p.n = extent("n", 1), p.k = extent("k", 1);
  p.batch = optional("batch");
  p.lda = extent("lda", 1), p.ldb = extent("ldb", 1), p.ldc = extent("ldc", 1);
  if (p.batch > 1) {
    p.strideA = cursor["sa"].integer(), p.strideB = cursor["sb"].integer();
    p.strideC = cursor["sc"].integer();
  }
  p.transposeA = cursor["ta"].boolean(), p.transposeB = cursor["tb"].boolean();
  p.accumulate = cursor["beta"].integer(0, 1) == 1;
  p.divideB = optional("divb"), p.sumBatch = optional("sumbatch");
  if (p.batch % p.divideB)
    cursor["divb"].expects("a divisor of the batch");
  if (p.batch % p.sumBatch)
    cursor["sumbatch"].expects("a divisor of the batch");
  std::vector<int64_t> tile = cursor["tile"].integers(1);
  if (tile.size() != 2)
    cursor["tile"].expects("two extents");
  tile.resize(2, 1);
  p.tileM = std::min(std::max<int64_t>(tile[0], 1), p.m);
  p.tileN = std::min(std::max<int64_t>(tile[1], 1), p.n);
  p.a = readOperand(cursor["a"], arenas);
  p.b = readOperand(cursor["b"], arenas);
  p.c = readOperand(cursor["c"], arenas);
  checkMatrix(cursor["a"], p.a, p.transposeA ? p.k : p.m,
              p.transposeA ? p.m : p.k, p.lda, p.batch, p.strideA);
  checkMatrix(cursor["b"], p.b, p.transposeB ? p.n : p.k,
              p.transposeB ? p.k : p.n, p.ldb, p.batch / p.divideB, p.strideB);
  checkMatrix(cursor["c"], p.c, p.m, p.n, p.ldc, p.batch / p.sumBatch,
              p.strideC);
  checkCovered(cursor["a"], p.a, command.reads, "reads");
  checkCovered(cursor["b"], p.b, command.reads, "reads");
  checkCovered(cursor["c"], p.c, command.writes, "writes");
  if (p.accumulate)
    checkCovered(cursor["c"], p.c, command.reads, "reads");
  return p;
}

/// Numbers of a list that has so many, from `low` to `high`; `low` otherwise.
template <size_t Count>
static std::array<int64_t, Count> readSizes(const JsonCursor &cursor,
                                            int64_t low, int64_t high) {
  std::array<int64_t, Count> sizes;
  sizes.fill(low);
  std::vector<int64_t> list = cursor.integers(low);
  if (list.size() != Count)
    cursor.expects(std::to_string(Count) + " numbers");
  else if (std::any_of(list.begin(), list.end(),
                       [&](int64_t size) { return size > high; }))
    cursor.expects("numbers of at most " + std::to_string(high));
  else
    std::copy(list.begin(), list.end(), sizes.begin());
  return sizes;
}

/// Checks that floats of these sizes are exactly the operand.
void ProgramReader::checkImages(const JsonCursor &cursor,
                                const Operand &operand,
                                std::initializer_list<int64_t> sizes) {
  int64_t bytes = 4;
  bool fits = true;
  for (int64_t size : sizes)
    fits = fits && !__builtin_mul_overflow(bytes, size, &bytes);
  if (!fits || bytes != operand.bytes)
    cursor.fail(
        "expects the " + (fits ? std::to_string(bytes) + " bytes" : "bytes") +
        " of its images or kernels, got " + std::to_string(operand.bytes));
  if (operand.offset % 4)
    cursor.fail("expects an offset that is a multiple of 4, got " +
                std::to_string(operand.offset));
}

/// The places of an output along a dim; 0 when no window fits.
static int64_t placesOf(const ConvolutionCommand &c, size_t dim) {
  int64_t rest = c.input[1 + dim] + 2 * c.padding[dim] -
                 (c.kernel[dim] - 1) * c.dilation[dim] - 1;
  return rest < 0 ? 0 : rest / c.stride[dim] + 1;
}

ConvolutionCommand ProgramReader::readConvolution(const JsonCursor &cursor,
                                                  const Command &command) {
  // Products of three of them are far below overflow.
  constexpr int64_t limit = int64_t(1) << 20;
  ConvolutionCommand c;
  c.pass = ConvolutionPass(
      cursor["pass"].choice({"forward", "backward_data", "backward_weights"}));
  c.rows = cursor["rows"].integer(1, limit);
  c.groups = cursor["groups"].integer(1, limit);
  c.tiles = cursor["tiles"].integer(1, limit);
  c.input = readSizes<3>(cursor["input"], 1, limit);
  c.output = readSizes<3>(cursor["output"], 1, limit);
  c.kernel = readSizes<2>(cursor["kernel"], 1, limit);
  c.stride = readSizes<2>(cursor["stride"], 1, limit);
  c.padding = readSizes<2>(cursor["padding"], 0, limit);
  c.dilation = readSizes<2>(cursor["dilation"], 1, limit);
  if (c.input[0] % c.groups || c.output[0] % c.groups)
    cursor["groups"].expects("a divisor of the channels");
  if (c.rows % c.tiles)
    cursor["tiles"].expects("a divisor of the rows");
  for (size_t dim = 0; dim < 2; ++dim)
    if (c.output[1 + dim] != placesOf(c, dim))
      cursor["output"].expects("as many places as the input has windows");
  c.a = readOperand(cursor["a"], arenas);
  c.b = readOperand(cursor["b"], arenas);
  c.c = readOperand(cursor["c"], arenas);
  c.scratch = readOperand(cursor["scratch"], arenas);
  const char *names[3][3] = {{"a", "b", "c"}, {"c", "b", "a"}, {"b", "c", "a"}};
  const Operand *operands[3][3] = {
      {&c.a, &c.b, &c.c}, {&c.c, &c.b, &c.a}, {&c.b, &c.c, &c.a}};
  auto pass = size_t(c.pass);
  int64_t copies = c.pass == ConvolutionPass::BackwardWeights ? c.tiles : 1;
  checkImages(cursor[names[pass][0]], *operands[pass][0],
              {c.rows, c.input[0], c.input[1], c.input[2]});
  checkImages(
      cursor[names[pass][1]], *operands[pass][1],
      {copies, c.output[0], c.input[0] / c.groups, c.kernel[0], c.kernel[1]});
  checkImages(cursor[names[pass][2]], *operands[pass][2],
              {c.rows, c.output[0], c.output[1], c.output[2]});
  // The library's parts of it begin at multiples of a cache line.
  if (c.scratch.bytes % (c.tiles * 64) || c.scratch.offset % 64)
    cursor["scratch"].expects("64-byte aligned memory for each tile");
  checkCovered(cursor["a"], c.a, command.reads, "reads");
  checkCovered(cursor["b"], c.b, command.reads, "reads");
  checkCovered(cursor["c"], c.c, command.writes, "writes");
  checkCovered(cursor["scratch"], c.scratch, command.writes, "writes");
  return c;
}

static bool holdsPipelineRank(const AxisGroup &group, int rank) {
  for (const AxisGroup::Member &member : group.axes)
    if (member.axis == Axis::PP && !member.coordinates.empty() &&
        std::ranges::find(member.coordinates, rank) == member.coordinates.end())
      return false;
  return true;
}

CollectiveCommand ProgramReader::readCollective(const JsonCursor &cursor,
                                                const Command &command) {
  CollectiveCommand c;
  c.op = CollectiveOp(cursor["op"].choice(
      {"all_reduce", "broadcast", "all_gather", "reduce_scatter"}));
  c.group = cursor["group"].index(job.groups.size(), "a group");
  c.type =
      std::array{DataType::F32, DataType::F64,
                 DataType::I64}[cursor["dtype"].choice({"f32", "f64", "i64"})];
  c.count = cursor["count"].integer(1);
  c.buffer = readOperand(cursor["buffer"], arenas);
  if (c.count > c.buffer.bytes / byteWidth(c.type))
    cursor["count"].expects("at most the " + std::to_string(c.buffer.bytes) +
                            " bytes of the buffer");
  if (c.op == CollectiveOp::Broadcast)
    c.root = unsigned(cursor["root"].integer(0, 1 << 20));
  checkCovered(cursor["buffer"], c.buffer, command.reads, "reads");
  checkCovered(cursor["buffer"], c.buffer, command.writes, "writes");
  if (command.queue.kind != Queue::Group || command.queue.group != c.group)
    cursor["queue"].expects("the queue of the command's group");
  if (c.group < job.groups.size() &&
      !holdsPipelineRank(job.groups[c.group].axes, int(rank)))
    cursor["group"].expects("a group with pipeline rank " +
                            std::to_string(rank));
  return c;
}

CopyCommand ProgramReader::readCopy(const JsonCursor &cursor,
                                    const Command &command) {
  CopyCommand copy;
  copy.from = readOperand(cursor["from"], arenas);
  copy.to = readOperand(cursor["to"], arenas);
  if (copy.from.bytes != copy.to.bytes)
    cursor["to"].fail("expects as many bytes as 'from', " +
                      std::to_string(copy.from.bytes) + ", got " +
                      std::to_string(copy.to.bytes));
  checkCovered(cursor["from"], copy.from, command.reads, "reads");
  checkCovered(cursor["to"], copy.to, command.writes, "writes");
  return copy;
}

FillCommand ProgramReader::readFill(const JsonCursor &cursor,
                                    const Command &command) {
  FillCommand fill;
  fill.to = readOperand(cursor["to"], arenas);
  cursor["value"].integer(0, 0);
  checkCovered(cursor["to"], fill.to, command.writes, "writes");
  return fill;
}

void ProgramReader::readQueue(const JsonCursor &cursor, Command &command) {
  std::string queue = cursor.text();
  if (queue == "compute")
    command.queue.kind = Queue::Compute;
  else if (queue == "copy")
    command.queue.kind = Queue::Copy;
  else if (queue.starts_with("group:") && queue.size() < 12 &&
           queue.find_first_not_of("0123456789", 6) == std::string::npos &&
           queue.size() > 6 && std::stoul(queue.substr(6)) < job.groups.size())
    command.queue = {Queue::Group, unsigned(std::stoul(queue.substr(6)))};
  else
    cursor.expects("'compute', 'copy' or 'group:<index>'");
}

Command ProgramReader::readCommand(const JsonCursor &cursor, size_t id) {
  Command command;
  if (cursor["id"].integer() != int64_t(id))
    cursor["id"].expects("its position " + std::to_string(id));
  readQueue(cursor["queue"], command);
  for (const JsonCursor &wait : cursor["waits"].elements())
    command.waits.push_back(wait.index(id, "an earlier command"));
  std::ranges::sort(command.waits);
  for (const JsonCursor &each : cursor["reads"].elements())
    command.reads.push_back(readOperand(each, arenas));
  for (const JsonCursor &each : cursor["writes"].elements())
    command.writes.push_back(readOperand(each, arenas));
  if (cursor.has("loc"))
    command.location = cursor["loc"].text();
  if (cursor.has("scope"))
    command.scope = cursor["scope"].text();
  switch (cursor["kind"].choice(
      {"kernel", "product", "convolution", "collective", "copy", "fill"})) {
  case 0:
    command.work = readKernel(cursor, command);
    break;
  case 1:
    command.work = readProduct(cursor, command);
    break;
  case 2:
    command.work = readConvolution(cursor, command);
    break;
  case 3:
    command.work = readCollective(cursor, command);
    break;
  case 4:
    command.work = readCopy(cursor, command);
    break;
  default:
    command.work = readFill(cursor, command);
  }
  if (command.queue.kind == Queue::Group &&
      !std::holds_alternative<CollectiveCommand>(command.work))
    cursor["queue"].expects("'compute' or 'copy' for this kind of command");
  return command;
}

Program runtime::readProgram(const JsonCursor &cursor, const std::string &name,
                             const Job &job, unsigned rank) {
  Program program;
  program.name = name;
  ProgramReader reader(job, rank);
  for (const JsonCursor &each : cursor["commands"].elements())
    program.commands.push_back(
        reader.readCommand(each, program.commands.size()));
  return program;
}
