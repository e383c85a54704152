//===- RegressionBuilder.h - Builds the files of the test job ---*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_TEST_FIXTURES_REGRESSIONBUILDER_H
#define SMP_RUNTIME_TEST_FIXTURES_REGRESSIONBUILDER_H

#include "RegressionJob.h"

#include <array>
#include <map>

namespace smp::runtime::test {

class RegressionActions;

/// Builds the files of one job.
class RegressionBuilder {
public:
  explicit RegressionBuilder(const RegressionShape &shape) : s(shape) {}
  JobFiles build();

private:
  friend class RegressionActions;

  struct Place {
    unsigned arena;
    int64_t bytes;
    bool slotted;
  };

  unsigned firstRank() const { return 0; }
  unsigned lastRank() const { return s.pp - 1; }
  void addArena(unsigned rank, const std::string &name, const std::string &kind,
                int64_t bytes, int64_t slots);
  nlohmann::json operand(unsigned rank, const std::string &name,
                         int64_t offset = 0, int64_t bytes = -1) const;
  nlohmann::json ref(unsigned rank, const std::string &name, int64_t offset = 0,
                     int64_t bytes = -1) const;
  nlohmann::json command(const std::string &kind, nlohmann::json waits,
                         nlohmann::json reads, nlohmann::json writes,
                         const nlohmann::json &fields) const;
  nlohmann::json kernel(unsigned index, nlohmann::json waits,
                        nlohmann::json reads, nlohmann::json writes,
                        nlohmann::json immediates, int64_t tiles) const;
  nlohmann::json product(unsigned rank, const std::string &a,
                         const std::string &b, const std::string &c,
                         std::array<int64_t, 3> mnk, bool ta, bool tb,
                         bool add) const;
  nlohmann::json program(std::vector<nlohmann::json> commands) const;
  nlohmann::json firstChunk() const;
  nlohmann::json lastChunk() const;
  nlohmann::json rankPrograms(unsigned rank) const;
  nlohmann::json schedule(unsigned rank) const;
  nlohmann::json forwardSchedule(unsigned rank,
                                 const std::string &program) const;
  nlohmann::json slots(unsigned rank, int64_t slot) const;
  void addArenas();
  nlohmann::json parameter(unsigned rank, const std::string &name,
                           std::vector<int64_t> dims) const;
  nlohmann::json manifest() const;

  RegressionShape s;
  std::map<unsigned, nlohmann::json> arenas;
  std::map<std::pair<unsigned, std::string>, Place> places;
};

} // namespace smp::runtime::test

#endif // SMP_RUNTIME_TEST_FIXTURES_REGRESSIONBUILDER_H
