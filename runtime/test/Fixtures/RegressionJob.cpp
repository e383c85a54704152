//===- RegressionJob.cpp - A hand-made job for tests ----------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RegressionJob.h"
#include "smp/Support/Hash.h"
#include "smp/Support/Initializers.h"
#include "smp/Support/Safetensors.h"
#include "smp/runtime/Job/JobReader.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace smp;
using namespace smp::runtime;
using namespace smp::runtime::test;
using nlohmann::json;

namespace {

/// Builds the files of one job.
class Builder {
public:
  explicit Builder(const RegressionShape &shape) : s(shape) {}
  JobFiles build();

private:
  struct Place {
    unsigned arena;
    int64_t bytes;
    bool slotted;
  };

  unsigned firstRank() const { return 0; }
  unsigned lastRank() const { return s.pp - 1; }
  void addArena(unsigned rank, const std::string &name, const std::string &kind,
                int64_t bytes, int64_t slots);
  json operand(unsigned rank, const std::string &name, int64_t offset = 0,
               int64_t bytes = -1) const;
  json ref(unsigned rank, const std::string &name, int64_t offset = 0,
           int64_t bytes = -1) const;
  json command(const std::string &kind, json waits, json reads, json writes,
               json fields) const;
  json kernel(unsigned index, json waits, json reads, json writes,
              json immediates, int64_t tiles) const;
  json product(unsigned rank, const std::string &a, const std::string &b,
               const std::string &c, std::array<int64_t, 3> mnk, bool ta,
               bool tb, bool add) const;
  json program(std::vector<json> commands) const;
  json firstChunk() const;
  json lastChunk() const;
  json rankPrograms(unsigned rank) const;
  json schedule(unsigned rank) const;
  json forwardSchedule(unsigned rank, const std::string &program) const;
  json slots(unsigned rank, int64_t slot) const;
  void addArenas();
  json parameter(unsigned rank, const std::string &name,
                 std::vector<int64_t> dims) const;
  json manifest() const;

  RegressionShape s;
  std::map<unsigned, json> arenas;
  std::map<std::pair<unsigned, std::string>, Place> places;
};

} // namespace

static int64_t roundUp(int64_t bytes) { return (bytes + 255) / 256 * 256; }

void Builder::addArena(unsigned rank, const std::string &name,
                       const std::string &kind, int64_t bytes, int64_t slots) {
  if (!arenas.count(rank))
    arenas[rank] = json::array();
  if (places.count({rank, name}))
    return;
  places[{rank, name}] = {unsigned(arenas[rank].size()), bytes, slots > 1};
  arenas[rank].push_back({{"name", name},
                          {"kind", kind},
                          {"stride", roundUp(bytes)},
                          {"slots", slots}});
}

json Builder::operand(unsigned rank, const std::string &name, int64_t offset,
                      int64_t bytes) const {
  Place place = places.at({rank, name});
  json result = {{"a", place.arena},
                 {"o", offset},
                 {"n", bytes < 0 ? place.bytes : bytes}};
  if (place.slotted)
    result["s"] = true;
  return result;
}

json Builder::ref(unsigned rank, const std::string &name, int64_t offset,
                  int64_t bytes) const {
  Place place = places.at({rank, name});
  return {{"arena", place.arena},
          {"offset", offset},
          {"bytes", bytes < 0 ? place.bytes : bytes}};
}

void Builder::addArenas() {
  unsigned first = firstRank(), last = lastRank();
  int64_t m = s.microbatches;
  auto parameter = [&](unsigned rank, const std::string &name, int64_t count) {
    addArena(rank, name, "parameters", count * 4, 1);
    addArena(rank, "d" + name, "gradients", count * 4, 1);
    addArena(rank, "v" + name, "optimizer", count * 4, 1);
  };
  parameter(first, "w1", s.inputs * s.hidden);
  parameter(last, "w2", s.hidden * s.outputs);
  addArena(first, "x", "input", s.rows * s.inputs * 4, m);
  addArena(last, "target", "input", s.rows * s.outputs * 4, m);
  addArena(last, "weight", "input", s.rows * 4, m);
  for (unsigned rank : {first, last}) {
    addArena(rank, "h", "boundary", s.rows * s.hidden * 4, m);
    addArena(rank, "dh", "boundary", s.rows * s.hidden * 4, m);
  }
  addArena(last, "dy", "stash", s.rows * s.outputs * 4, m);
  addArena(last, "y", "workspace", s.rows * s.outputs * 4, 1);
  addArena(last, "scalars", "scalars", 64, 1);
}

json Builder::command(const std::string &kind, json waits, json reads,
                      json writes, json fields) const {
  json result = {{"kind", kind},   {"queue", "compute"}, {"waits", waits},
                 {"reads", reads}, {"writes", writes},   {"loc", "model.py:7"},
                 {"scope", "net"}};
  result.update(fields);
  return result;
}

json Builder::kernel(unsigned index, json waits, json reads, json writes,
                     json immediates, int64_t tiles) const {
  json buffers = reads;
  for (const json &each : writes)
    if (std::find(buffers.begin(), buffers.end(), each) == buffers.end())
      buffers.push_back(each);
  return command("kernel", waits, reads, writes,
                 {{"kernel", index},
                  {"buffers", buffers},
                  {"immediates", immediates},
                  {"tiles", tiles}});
}

json Builder::product(unsigned rank, const std::string &a, const std::string &b,
                      const std::string &c, std::array<int64_t, 3> mnk, bool ta,
                      bool tb, bool add) const {
  auto [m, n, k] = mnk;
  json reads = {operand(rank, a), operand(rank, b)};
  if (add)
    reads.push_back(operand(rank, c));
  return command("product", json::array(), reads, {operand(rank, c)},
                 {{"m", m},
                  {"n", n},
                  {"k", k},
                  {"batch", 1},
                  {"lda", ta ? m : k},
                  {"ldb", tb ? k : n},
                  {"ldc", n},
                  {"ta", ta},
                  {"tb", tb},
                  {"beta", add ? 1 : 0},
                  {"a", operand(rank, a)},
                  {"b", operand(rank, b)},
                  {"c", operand(rank, c)},
                  {"tile", {2, 2}}});
}

json Builder::program(std::vector<json> commands) const {
  for (size_t i = 0; i < commands.size(); ++i)
    commands[i]["id"] = i;
  return {{"commands", commands}};
}

json Builder::firstChunk() const {
  unsigned r = firstRank();
  json h = operand(r, "h");
  json forward = product(r, "x", "w1", "h", {s.rows, s.hidden, s.inputs}, false,
                         false, false);
  json noise = kernel(1, {0}, {h}, {h}, {s.hidden}, s.rows);
  json backward = product(r, "x", "dh", "dw1", {s.inputs, s.hidden, s.rows},
                          true, false, true);
  return {{"version", "1.0"},
          {"chunk", 0},
          {"programs",
           {{"forward", program({forward, noise})},
            {"backward", program({backward})},
            {"evaluate", program({forward})},
            {"predict", program({forward})}}}};
}

json Builder::lastChunk() const {
  unsigned r = lastRank();
  json y = operand(r, "y"), target = operand(r, "target"),
       dy = operand(r, "dy"), count = operand(r, "scalars", 8, 8),
       loss = operand(r, "scalars", 0, 4), sums = operand(r, "scalars", 16, 16);
  int64_t elements = s.rows * s.outputs;
  json forward = product(r, "h", "w2", "y", {s.rows, s.outputs, s.hidden},
                         false, false, false);
  json error = kernel(2, {0}, {y, target, count}, {dy, loss}, {elements}, 1);
  error["reads"].push_back(loss);
  json gradient = product(r, "h", "dy", "dw2", {s.hidden, s.outputs, s.rows},
                          true, false, true);
  json back = product(r, "dy", "w2", "dh", {s.rows, s.hidden, s.outputs}, false,
                      true, false);
  json evaluate = kernel(3, {0}, {y, target, operand(r, "weight"), sums},
                         {sums}, {s.rows, s.outputs}, 1);
  return {{"version", "1.0"},
          {"chunk", 1},
          {"programs",
           {{"count", program({kernel(0, json::array(), {count}, {count},
                                      {elements}, 1)})},
            {"forward", program({forward, error})},
            {"backward", program({gradient, back})},
            {"evaluate", program({forward, evaluate})},
            {"predict", program({forward})}}}};
}

json Builder::rankPrograms(unsigned rank) const {
  auto fill = [&](json to) {
    return command("fill", json::array(), json::array(), {to},
                   {{"to", to}, {"value", 0}});
  };
  auto reduce = [&](json buffer, const char *type, int64_t count) {
    return command("collective", json::array(), {buffer}, {buffer},
                   {{"op", "all_reduce"},
                    {"group", 0},
                    {"queue", "group:0"},
                    {"dtype", type},
                    {"count", count},
                    {"buffer", buffer}});
  };
  std::vector<json> begin, update;
  for (const std::string name : {"w1", "w2"}) {
    if (!places.count({rank, name}))
      continue;
    int64_t count = places.at({rank, name}).bytes / 4;
    json gradient = operand(rank, "d" + name), weight = operand(rank, name),
         momentum = operand(rank, "v" + name);
    begin.push_back(fill(gradient));
    size_t reduction = update.size();
    update.push_back(reduce(gradient, "f32", count));
    json sgd = kernel(4, {reduction}, {gradient, weight, momentum},
                      {weight, momentum}, json::array(), count);
    update.push_back(sgd);
  }
  if (rank == lastRank()) {
    json count = operand(rank, "scalars", 8, 8);
    begin.push_back(fill(operand(rank, "scalars", 0, 4)));
    begin.push_back(reduce(count, "f64", 1));
    update.push_back(fill(count));
  }
  return {{"begin_step", program(begin)}, {"update", program(update)}};
}

json Builder::slots(unsigned rank, int64_t slot) const {
  json result = json::object();
  for (const auto &[key, place] : places)
    if (key.first == rank && place.slotted)
      result[std::to_string(place.arena)] = slot;
  return result;
}

namespace {

/// Appends actions and remembers who fills and reads what.
struct ActionList {
  json actions = json::array();

  size_t add(json action, std::vector<size_t> waits) {
    action["id"] = actions.size();
    std::sort(waits.begin(), waits.end());
    action["waits"] = waits;
    actions.push_back(std::move(action));
    return actions.size() - 1;
  }
};

} // namespace

/// One pass of forward programs, for evaluation and prediction.
json Builder::forwardSchedule(unsigned rank, const std::string &program) const {
  ActionList list;
  bool evaluates = program == "evaluate";
  auto load = [&](int input, int64_t m) {
    return list.add(
        {{"kind", "load"}, {"input", input}, {"microbatch", m}, {"slot", m}},
        {});
  };
  auto launch = [&](int chunk, int64_t m, std::vector<size_t> waits) {
    return list.add({{"kind", "launch"},
                     {"program", program},
                     {"chunk", chunk},
                     {"microbatch", m},
                     {"slots", slots(rank, m)}},
                    waits);
  };
  auto transfer = [&](const char *kind, unsigned peer, int64_t m,
                      std::vector<size_t> waits) {
    return list.add({{"kind", kind},
                     {"peer", peer},
                     {"edge", "act.c0-c1"},
                     {"tag", 0},
                     {"microbatch", m},
                     {"buffer", operand(rank, "h")},
                     {"slot", m}},
                    waits);
  };
  for (int64_t m = 0; m < (evaluates ? s.microbatches : 1); ++m) {
    std::vector<size_t> ready;
    if (rank == firstRank()) {
      ready = {launch(0, m, {load(0, m)})};
      if (s.pp == 2)
        transfer("send", 1, m, ready);
    }
    if (rank != lastRank())
      continue;
    if (s.pp == 2)
      ready = {transfer("recv", 0, m, {})};
    if (evaluates)
      ready.insert(ready.end(), {load(1, m), load(2, m)});
    launch(1, m, ready);
  }
  return list.actions;
}

json Builder::schedule(unsigned rank) const {
  ActionList list;
  bool first = rank == firstRank(), last = rank == lastRank();
  int64_t count = s.microbatches;
  std::vector<size_t> x(count), target(count), forward(count);
  auto launch = [&](const char *program, int chunk, int64_t m,
                    std::vector<size_t> waits) {
    return list.add({{"kind", "launch"},
                     {"program", program},
                     {"chunk", chunk},
                     {"microbatch", m},
                     {"slots", slots(rank, m)}},
                    waits);
  };
  auto transfer = [&](const char *kind, const char *buffer, int64_t m,
                      std::vector<size_t> waits) {
    return list.add(
        {{"kind", kind},
         {"peer", 1 - rank},
         {"edge", buffer == std::string("h") ? "act.c0-c1" : "grad.c1-c0"},
         {"tag", buffer == std::string("h") ? 0 : 1},
         {"microbatch", m},
         {"buffer", operand(rank, buffer)},
         {"slot", m}},
        waits);
  };
  for (int64_t m = 0; m < count; ++m) {
    auto load = [&](int input) {
      return list.add(
          {{"kind", "load"}, {"input", input}, {"microbatch", m}, {"slot", m}},
          {});
    };
    if (first)
      x[m] = load(0);
    if (last) {
      target[m] = load(1);
      launch("count", 1, m, {});
    }
  }
  launch("begin_step", -1, 0, {});
  auto runForward = [&](int64_t m) {
    std::vector<size_t> ready;
    if (first) {
      ready = {launch("forward", 0, m, {x[m]})};
      if (s.pp == 2)
        transfer("send", "h", m, ready);
    }
    if (last) {
      if (s.pp == 2)
        ready = {transfer("recv", "h", m, {})};
      ready.push_back(target[m]);
      launch("forward", 1, m, ready);
    }
  };
  auto runBackward = [&](int64_t m) {
    std::vector<size_t> ready;
    if (last) {
      ready = {launch("backward", 1, m, {})};
      if (s.pp == 2)
        transfer("send", "dh", m, ready);
    }
    if (first) {
      if (s.pp == 2)
        ready = {transfer("recv", "dh", m, {})};
      launch("backward", 0, m, ready);
    }
  };
  int64_t ahead = !s.oneByOne ? count : s.pp == 2 && first ? 1 : 0;
  for (int64_t m = 0; m < std::min(ahead, count); ++m)
    runForward(m);
  for (int64_t m = 0; m < count; ++m) {
    if (m + ahead < count)
      runForward(m + ahead);
    runBackward(m);
  }
  launch("update", -1, 0, {});
  return list.actions;
}

json Builder::parameter(unsigned rank, const std::string &name,
                        std::vector<int64_t> dims) const {
  return {{"name", name + ".weight"},
          {"aliases", json::array()},
          {"shape", dims},
          {"dtype", "f32"},
          {"requires_grad", true},
          {"init", {{"kind", "normal"}, {"mean", 0.0}, {"std", 0.5}}},
          {"optimizer", {"momentum_buffer"}},
          {"holders", {rank}},
          {"location",
           {{std::to_string(rank),
             {{"parameter", ref(rank, name)},
              {"gradients", {{name + ".weight", ref(rank, "d" + name)}}},
              {"optimizer", {{"momentum_buffer", ref(rank, "v" + name)}}}}}}}};
}

json Builder::manifest() const {
  unsigned first = firstRank(), last = lastRank();
  auto input = [&](const char *name, const char *role, json shape,
                   unsigned rank, const char *arena) -> json {
    return {{"name", name},
            {"role", role},
            {"dtype", "f32"},
            {"shape", shape},
            {"consumers",
             {{std::to_string(rank),
               {{"arena", places.at({rank, arena}).arena}}}}}};
  };
  auto scalar = [&](int64_t offset, int64_t bytes) -> json {
    return {{"rank", last}, {"ref", ref(last, "scalars", offset, bytes)}};
  };
  json ranks = json::array();
  for (unsigned rank = 0; rank < s.pp; ++rank) {
    int64_t peak = 0;
    for (const json &arena : arenas.at(rank))
      peak += arena["stride"].get<int64_t>() * arena["slots"].get<int64_t>();
    json chunks = s.pp == 1 ? json{0, 1} : json{rank};
    ranks.push_back({{"arenas", arenas.at(rank)},
                     {"peak_bytes", peak},
                     {"chunks", chunks}});
  }
  return {{"version", "1.0"},
          {"smp", "0.1.0"},
          {"model", "regression"},
          {"config",
           {{"optimizer", {{"name", "sgd"}, {"lr", 0.05}, {"momentum", 0.9}}},
            {"pipeline_parallel_degree", s.pp},
            {"microbatches", s.microbatches}}},
          {"axes", {{"pp", s.pp}, {"tp", 1}}},
          {"placement", "DPT"},
          {"microbatches", s.microbatches},
          {"microbatch_rows", s.rows},
          {"accumulation", 1},
          {"dtype", "f32"},
          {"cpu_features", json::array()},
          {"kernels",
           {{"file", "kernels.so"},
            {"symbols", {"count", "noise", "error", "evaluate", "sgd"}}}},
          {"hash", std::string(64, '0')},
          {"groups", {{{"name", "rdp"}, {"axes", {"rdp"}}}}},
          {"parameters",
           {parameter(first, "w1", {s.inputs, s.hidden}),
            parameter(last, "w2", {s.hidden, s.outputs})}},
          {"states", json::array()},
          {"inputs",
           {input("x", "input", {s.rows, s.inputs}, first, "x"),
            input("target", "label", {s.rows, s.outputs}, last, "target"),
            input("weight", "row_weight", {s.rows}, last, "weight")}},
          {"data", {{"kind", "arrays"}}},
          {"losses", {{{"name", "loss"}}}},
          {"outputs",
           {{{"name", "y"},
             {"rank", last},
             {"dtype", "f32"},
             {"shape", {s.rows, s.outputs}},
             {"ref", ref(last, "y")}}}},
          {"ranks", ranks},
          {"chunks", {{{"rank", first}}, {{"rank", last}}}},
          {"scalars",
           {{"loss", scalar(0, 4)},
            {"count", scalar(8, 8)},
            {"eval_sum", scalar(16, 8)},
            {"eval_count", scalar(24, 8)}}},
          {"flops_per_step", 1000.0}};
}

JobFiles Builder::build() {
  addArenas();
  JobFiles files;
  files["job.json"] = manifest();
  files["chunk-0.json"] = firstChunk();
  files["chunk-1.json"] = lastChunk();
  for (unsigned rank = 0; rank < s.pp; ++rank)
    files["rank-" + std::to_string(rank) + ".json"] = {
        {"version", "1.0"},
        {"rank", rank},
        {"programs", rankPrograms(rank)},
        {"schedules",
         {{"train", schedule(rank)},
          {"evaluate", forwardSchedule(rank, "evaluate")},
          {"predict", forwardSchedule(rank, "predict")}}}};
  return files;
}

JobFiles test::makeRegressionJob(const RegressionShape &shape) {
  return Builder(shape).build();
}

static std::string temporaryPath(const std::string &name) {
  return (std::filesystem::temp_directory_path() /
          ("smp-test-" + std::to_string(getpid()) + "-" + name))
      .string();
}

std::string test::writeJob(JobFiles files, const std::string &name) {
  std::string folder = temporaryPath(name);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(SMP_REGRESSION_KERNELS, folder + "/kernels.so");
  for (const auto &[file, content] : files)
    std::ofstream(folder + "/" + file) << content.dump();
  if (auto hash = hashJobFolder(folder); hash && files.count("job.json")) {
    files["job.json"]["hash"] = *hash;
    std::ofstream(folder + "/job.json") << files["job.json"].dump();
  }
  return folder;
}

double test::dataElement(int64_t sample, int64_t i, bool target) {
  uint64_t bits = splitmix64(uint64_t(sample * 64 + i + (target ? 32 : 0)));
  return double(float(double(bits >> 40) / double(1 << 24) - 0.5));
}

std::string test::writeRegressionData(const RegressionShape &shape,
                                      int64_t rows, const std::string &name) {
  std::vector<float> x, target;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < shape.inputs; ++i)
      x.push_back(float(dataElement(row, i, false)));
    for (int64_t i = 0; i < shape.outputs; ++i)
      target.push_back(float(dataElement(row, i, true)));
  }
  std::string path = temporaryPath(name) + ".safetensors";
  auto bytes = [](const std::vector<float> &v) {
    return std::as_bytes(std::span(v));
  };
  Status written = writeSafetensors(
      path, {{"x", DataType::F32, {rows, shape.inputs}, bytes(x)},
             {"target", DataType::F32, {rows, shape.outputs}, bytes(target)}});
  return written ? path : "";
}
