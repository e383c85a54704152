//===- TokenJob.cpp - A hand-made job that continues texts ----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TokenJob.h"

using namespace smp::runtime::test;
using nlohmann::json;

JobFiles smp::runtime::test::makeTokenJob(int64_t vocabulary) {
  constexpr int64_t rows = 2, sequence = 8;
  int64_t logits = rows * sequence * vocabulary * 4;
  int64_t logitsStride = (logits + 255) / 256 * 256;
  auto operand = [](int arena, int64_t bytes) -> json {
    return {{"a", arena}, {"o", 0}, {"n", bytes}};
  };
  json tokens = operand(1, rows * sequence * 8), out = operand(2, logits);
  json command = {{"id", 0},
                  {"kind", "kernel"},
                  {"queue", "compute"},
                  {"waits", json::array()},
                  {"reads", {tokens}},
                  {"writes", {out}},
                  {"kernel", 0},
                  {"buffers", {tokens, out}},
                  {"immediates", {vocabulary}},
                  {"tiles", rows * sequence}};
  auto arena = [](const char *name, const char *kind, int64_t stride) -> json {
    return {{"name", name}, {"kind", kind}, {"stride", stride}, {"slots", 1}};
  };
  auto ref = [](int index, int64_t bytes) -> json {
    return {{"arena", index}, {"offset", 0}, {"bytes", bytes}};
  };
  JobFiles files;
  files["chunk-0.json"] = {
      {"version", "1.0"},
      {"chunk", 0},
      {"programs", {{"predict", {{"commands", {command}}}}}}};
  files["rank-0.json"] = {{"version", "1.0"},
                          {"rank", 0},
                          {"programs", json::object()},
                          {"schedules",
                           {{"train", json::array()},
                            {"predict",
                             {{{"id", 0},
                               {"kind", "load"},
                               {"input", 0},
                               {"microbatch", 0},
                               {"slot", 0},
                               {"waits", json::array()}},
                              {{"id", 1},
                               {"kind", "launch"},
                               {"program", "predict"},
                               {"chunk", 0},
                               {"microbatch", 0},
                               {"slots", json::object()},
                               {"waits", {0}}}}}}}};
  files["job.json"] = {
      {"version", "1.0"},
      {"model", "successor"},
      {"config", json::object()},
      {"axes", {{"pp", 1}, {"tp", 1}}},
      {"placement", "DPT"},
      {"microbatches", 1},
      {"microbatch_rows", rows},
      {"accumulation", 1},
      {"cpu_features", json::array()},
      {"kernels", {{"file", "kernels.so"}, {"symbols", {"successor"}}}},
      {"hash", std::string(64, '0')},
      {"groups", json::array()},
      {"parameters",
       {{{"name", "bias"},
         {"shape", {1}},
         {"dtype", "f32"},
         {"requires_grad", false},
         {"init", {{"kind", "constant"}, {"value", 1.0}}},
         {"holders", {0}},
         {"location", {{"0", {{"parameter", ref(0, 4)}}}}}}}},
      {"inputs",
       {{{"name", "input_ids"},
         {"role", "input"},
         {"dtype", "i64"},
         {"shape", {rows, sequence}},
         {"consumers", {{"0", {{"arena", 1}}}}}}}},
      {"data",
       {{"kind", "tokens"}, {"convention", "hf"}, {"vocabulary", vocabulary}}},
      {"outputs",
       {{{"name", "logits"},
         {"rank", 0},
         {"dtype", "f32"},
         {"shape", {rows, sequence, vocabulary}},
         {"ref", ref(2, logits)}}}},
      {"ranks",
       {{{"arenas",
          {arena("parameters", "parameters", 256),
           arena("tokens", "input", 256),
           arena("logits", "workspace", logitsStride)}},
         {"peak_bytes", 512 + logitsStride},
         {"chunks", {0}}}}},
      {"chunks", {{{"rank", 0}}}},
      {"scalars", json::object()}};
  return files;
}
