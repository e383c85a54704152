//===- JobFolder.cpp - Writes jobs and data for tests ---------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RegressionJob.h"
#include "TemporaryPath.h"
#include "smp/Support/Hash.h"
#include "smp/Support/Safetensors.h"
#include "smp/runtime/Job/JobReader.h"

#include <filesystem>
#include <fstream>

using namespace smp;
using namespace smp::runtime;
using namespace smp::runtime::test;
using nlohmann::json;

std::string test::writeJob(JobFiles files, const std::string &name) {
  std::string folder = temporaryPath(name);
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
  std::string path = temporaryPath(name + ".safetensors");
  auto bytes = [](const std::vector<float> &v) {
    return std::as_bytes(std::span(v));
  };
  Status written = writeSafetensors(
      path, {{"x", DataType::F32, {rows, shape.inputs}, bytes(x)},
             {"target", DataType::F32, {rows, shape.outputs}, bytes(target)}});
  return written ? path : "";
}
