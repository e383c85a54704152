//===- RegressionJob.cpp - A hand-made job for tests ----------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RegressionBuilder.h"

#include <algorithm>

using namespace smp;
using namespace smp::runtime;
using namespace smp::runtime::test;
using nlohmann::json;

static int64_t roundUp(int64_t bytes) { return (bytes + 255) / 256 * 256; }

void RegressionBuilder::addArena(unsigned rank, const std::string &name,
                                 const std::string &kind, int64_t bytes,
                                 int64_t slots) {
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

json RegressionBuilder::operand(unsigned rank, const std::string &name,
                                int64_t offset, int64_t bytes) const {
  Place place = places.at({rank, name});
  json result = {{"a", place.arena},
                 {"o", offset},
                 {"n", bytes < 0 ? place.bytes : bytes}};
  if (place.slotted)
    result["s"] = true;
  return result;
}

json RegressionBuilder::ref(unsigned rank, const std::string &name,
                            int64_t offset, int64_t bytes) const {
  Place place = places.at({rank, name});
  return {{"arena", place.arena},
          {"offset", offset},
          {"bytes", bytes < 0 ? place.bytes : bytes}};
}

void RegressionBuilder::addArenas() {
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

json RegressionBuilder::command(const std::string &kind, json waits, json reads,
                                json writes, const json &fields) const {
  json result = {{"kind", kind},
                 {"queue", "compute"},
                 {"waits", std::move(waits)},
                 {"reads", std::move(reads)},
                 {"writes", std::move(writes)},
                 {"loc", "model.py:7"},
                 {"scope", "net"}};
  result.update(fields);
  return result;
}

json RegressionBuilder::kernel(unsigned index, json waits, json reads,
                               json writes, json immediates,
                               int64_t tiles) const {
  json buffers = reads;
  for (const json &each : writes)
    if (std::ranges::find(buffers, each) == buffers.end())
      buffers.push_back(each);
  return command("kernel", std::move(waits), std::move(reads),
                 std::move(writes),
                 {{"kernel", index},
                  {"buffers", std::move(buffers)},
                  {"immediates", std::move(immediates)},
                  {"tiles", tiles}});
}

json RegressionBuilder::product(unsigned rank, const std::string &a,
                                const std::string &b, const std::string &c,
                                std::array<int64_t, 3> mnk, bool ta, bool tb,
                                bool add) const {
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

json RegressionBuilder::program(std::vector<json> commands) const {
  for (size_t i = 0; i < commands.size(); ++i)
    commands[i]["id"] = i;
  return {{"commands", commands}};
}

json RegressionBuilder::firstChunk() const {
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

json RegressionBuilder::lastChunk() const {
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

json RegressionBuilder::rankPrograms(unsigned rank) const {
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

json RegressionBuilder::parameter(unsigned rank, const std::string &name,
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

json RegressionBuilder::manifest() const {
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
            {"eval_sum/loss", scalar(16, 8)},
            {"eval_count/loss", scalar(24, 8)}}},
          {"flops_per_step", 1000.0}};
}

JobFiles RegressionBuilder::build() {
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
  return RegressionBuilder(shape).build();
}
