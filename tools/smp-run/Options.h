//===- Options.h - The command line of smp-run ------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_TOOLS_SMP_RUN_OPTIONS_H
#define SMP_TOOLS_SMP_RUN_OPTIONS_H

#include "smp/Support/Result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace smp::run {

struct Options {
  std::string job;
  std::optional<int> ranks, threads;
  std::string transport = "mpi";
  std::string dataOrder = "shuffled";
  std::string data, evalData, metrics, trace, init, checkpointDirectory;
  std::optional<int64_t> steps;
  std::string onNan = "stop";
  int64_t evalEvery = 0, saveEvery = 0;
  bool resume = false;
  std::optional<uint64_t> seed;
  int stallTimeout = 60;
  int64_t generate = 0;
  std::string prompt;
  double temperature = 0;
  std::string dumpParameters;
  bool poison = false;
  std::optional<uint64_t> orderSeed;
  bool printRanks = false, help = false, version = false;
  std::string config;
  std::vector<std::string> configFlags; ///< with --print-ranks
  /// The options given that all ranks must agree on, and their values for the
  /// eye. A file may have another name on each host: 'a file' is said of it.
  std::map<std::string, std::string> agreed;
  /// The command line again, each option and its value in one word.
  std::vector<std::string> words;
};

Result<Options> parseOptions(const std::vector<std::string> &arguments);

/// The text of --help.
std::string helpText();

} // namespace smp::run

#endif // SMP_TOOLS_SMP_RUN_OPTIONS_H
