//===- JobTensors.cpp - Read and check the tensors of job.json ------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JobParts.h"

#include <charconv>
#include <set>

using namespace smp;
using namespace smp::runtime;

static std::vector<int64_t> readShape(const JsonCursor &cursor, DataType type) {
  std::vector<int64_t> shape = cursor.integers(0);
  if (auto count = elementCount(shape, type); !count)
    cursor.fail(count.error().message);
  return shape;
}

static int64_t bytesOf(const std::vector<int64_t> &shape, DataType type) {
  auto count = elementCount(shape, type);
  return count ? *count * byteWidth(type) : 0;
}

static unsigned parseRank(const std::string &key, const JsonCursor &value,
                          const Job &job) {
  unsigned rank = 0;
  auto parsed = std::from_chars(key.data(), key.data() + key.size(), rank);
  if (parsed.ec == std::errc() && parsed.ptr == key.data() + key.size() &&
      rank < job.pp)
    return rank;
  value.fail("expects a pipeline rank below " + std::to_string(job.pp) +
             " as key, got '" + key + "'");
  return 0;
}

/// A REF that holds exactly `bytes` bytes.
static BufferRef readTensorRef(const JsonCursor &cursor, const Job &job,
                               unsigned rank, int64_t bytes,
                               const Phases &phases = always) {
  BufferRef ref = readBufferRef(cursor, job.ranks[rank].arenas, phases);
  if (ref.bytes != bytes)
    cursor["bytes"].expects("the " + std::to_string(bytes) +
                            " bytes of the tensor");
  return ref;
}

/// Elements that are 0, of a tensor of `elements`.
static void readZeroed(const JsonCursor &cursor, int64_t elements,
                       Initializer &init) {
  std::vector<JsonCursor> ends = cursor.elements();
  if (ends.size() != 2)
    return cursor.expects("two numbers");
  init.zeroBegin = ends[0].integer(0, elements);
  init.zeroEnd = ends[1].integer(init.zeroBegin, elements);
}

static std::optional<Initializer> readInitializer(const JsonCursor &cursor,
                                                  int64_t elements) {
  Initializer init;
  if (cursor.has("zeroed"))
    readZeroed(cursor["zeroed"], elements, init);
  using Kind = Initializer::Kind;
  init.kind = Kind(cursor["kind"].choice(
      {"constant", "normal", "uniform", "truncated_normal"}));
  if (init.kind == Kind::Constant) {
    init.a = cursor["value"].number();
    return init;
  }
  bool bounds = init.kind == Kind::Uniform;
  init.a = cursor[bounds ? "low" : "mean"].number();
  init.b = cursor[bounds ? "high" : "std"].number();
  if (init.kind == Kind::TruncatedNormal) {
    init.low = cursor["low"].number();
    init.high = cursor["high"].number();
  }
  return init;
}

static std::vector<unsigned> readHolders(const JsonCursor &cursor,
                                         const Job &job) {
  std::vector<unsigned> holders;
  for (const JsonCursor &each : cursor.elements())
    holders.push_back(each.index(job.pp, "a pipeline rank"));
  if (holders.empty())
    cursor.expects("at least one pipeline rank");
  return holders;
}

static ParameterLocation readLocation(const JsonCursor &cursor, const Job &job,
                                      unsigned rank,
                                      const Parameter &parameter) {
  constexpr Phases training = {true, false, false};
  ParameterLocation location;
  int64_t bytes = bytesOf(parameter.shape, DataType::F32);
  location.parameter = readTensorRef(cursor["parameter"], job, rank, bytes);
  if (cursor.has("gradients"))
    for (const auto &[alias, ref] : cursor["gradients"].members())
      location.gradients[alias] =
          readTensorRef(ref, job, rank, bytes, training);
  if (cursor.has("optimizer"))
    for (const auto &[state, ref] : cursor["optimizer"].members())
      location.optimizer[state] =
          readTensorRef(ref, job, rank, bytes, training);
  return location;
}

static Parameter readParameter(const JsonCursor &cursor, const Job &job) {
  Parameter parameter;
  parameter.name = cursor["name"].text();
  if (cursor.has("aliases"))
    parameter.aliases = cursor["aliases"].texts();
  if (readDataType(cursor["dtype"]) != DataType::F32)
    cursor["dtype"].expects("'f32', the type of all parameters");
  parameter.shape = readShape(cursor["shape"], DataType::F32);
  parameter.requiresGrad = cursor["requires_grad"].boolean();
  if (cursor.has("init"))
    parameter.init =
        readInitializer(cursor["init"], bytesOf(parameter.shape, DataType::U8));
  if (cursor.has("optimizer"))
    parameter.optimizer = cursor["optimizer"].texts();
  parameter.holders = readHolders(cursor["holders"], job);
  for (const auto &[key, value] : cursor["location"].members()) {
    unsigned rank = parseRank(key, value, job);
    parameter.location[rank] = readLocation(value, job, rank, parameter);
  }
  for (unsigned holder : parameter.holders) {
    auto it = parameter.location.find(holder);
    if (it == parameter.location.end()) {
      cursor["location"].fail("expects the place on pipeline rank " +
                              std::to_string(holder) + ", got none");
      continue;
    }
    for (const std::string &state : parameter.optimizer)
      if (!it->second.optimizer.count(state))
        cursor["location"].fail("expects the place of '" + state +
                                "' on pipeline rank " + std::to_string(holder) +
                                ", got none");
  }
  return parameter;
}

static StateTensor readState(const JsonCursor &cursor, const Job &job) {
  StateTensor state;
  state.name = cursor["name"].text();
  state.type = readDataType(cursor["dtype"]);
  state.shape = readShape(cursor["shape"], state.type);
  int64_t bytes = bytesOf(state.shape, state.type);
  if (cursor.has("init")) {
    state.init =
        readInitializer(cursor["init"], bytesOf(state.shape, DataType::U8));
  } else if (cursor.has("value") && cursor["value"].isObject()) {
    JsonCursor file = cursor["value"]["file"];
    state.constants = {file["offset"].integer(), file["bytes"].integer()};
    if (state.constants->second != bytes)
      file["bytes"].expects("the " + std::to_string(bytes) +
                            " bytes of the tensor");
  } else if (cursor.has("value")) {
    for (const JsonCursor &each : cursor["value"].elements())
      state.value.push_back(each.number());
    if (int64_t(state.value.size()) * byteWidth(state.type) != bytes)
      cursor["value"].fail("expects as many elements as the shape has, got " +
                           std::to_string(state.value.size()));
  }
  state.holders = readHolders(cursor["holders"], job);
  for (const auto &[key, value] : cursor["location"].members()) {
    unsigned rank = parseRank(key, value, job);
    state.location[rank] = readTensorRef(value, job, rank, bytes);
  }
  return state;
}

static Input readInput(const JsonCursor &cursor, const Job &job) {
  Input input;
  input.spec.name = cursor["name"].text();
  input.spec.role =
      InputRole(cursor["role"].choice({"input", "label", "row_weight"}));
  input.spec.type = readDataType(cursor["dtype"]);
  std::vector<int64_t> shape = readShape(cursor["shape"], input.spec.type);
  if (shape.empty() || shape[0] != job.microbatchRows)
    cursor["shape"].fail("expects the " + std::to_string(job.microbatchRows) +
                         " rows of a microbatch as the first dimension");
  else
    input.spec.rowShape.assign(shape.begin() + 1, shape.end());
  if (cursor.has("below"))
    input.spec.below = cursor["below"].integer(1);
  if (cursor.has("ignored"))
    input.spec.ignored = cursor["ignored"].integer(INT64_MIN);
  int64_t bytes = bytesOf(shape, input.spec.type);
  for (const auto &[key, value] : cursor["consumers"].members()) {
    unsigned rank = parseRank(key, value, job);
    const std::vector<Arena> &arenas = job.ranks[rank].arenas;
    unsigned arena = value["arena"].index(arenas.size(), "an arena");
    input.consumers[rank] = arena;
    if (bytes > arenas[arena].stride)
      value["arena"].fail("expects slots of at least " + std::to_string(bytes) +
                          " bytes, got " +
                          std::to_string(arenas[arena].stride));
  }
  return input;
}

static Output readOutput(const JsonCursor &cursor, const Job &job) {
  Output output;
  output.name = cursor["name"].text();
  output.rank = cursor["rank"].index(job.pp, "a pipeline rank");
  output.type = readDataType(cursor["dtype"]);
  output.shape = readShape(cursor["shape"], output.type);
  output.ref =
      readTensorRef(cursor["ref"], job, output.rank,
                    bytesOf(output.shape, output.type), {false, false, true});
  return output;
}

static void readScalars(const JsonCursor &cursor, Job &job) {
  for (const auto &[name, value] : cursor.members()) {
    Scalar scalar;
    scalar.rank = value["rank"].index(job.pp, "a pipeline rank");
    scalar.ref = readBufferRef(value["ref"], job.ranks[scalar.rank].arenas);
    int64_t bytes = name == "loss" ? 4 : 8;
    if (scalar.ref.bytes != bytes)
      value["ref"]["bytes"].expects(std::to_string(bytes) + " bytes");
    job.scalars[name] = scalar;
  }
}

void runtime::readTensors(const JsonCursor &root, Job &job) {
  std::set<std::string> names;
  for (const JsonCursor &each : root["parameters"].elements()) {
    job.parameters.push_back(readParameter(each, job));
    if (!names.insert(job.parameters.back().name).second)
      each["name"].expects("a name that is not taken");
  }
  if (root.has("states"))
    for (const JsonCursor &each : root["states"].elements())
      job.states.push_back(readState(each, job));
  for (const JsonCursor &each : root["inputs"].elements())
    job.inputs.push_back(readInput(each, job));
  if (root.has("outputs"))
    for (const JsonCursor &each : root["outputs"].elements())
      job.outputs.push_back(readOutput(each, job));
  readScalars(root["scalars"], job);
}
