//===- Mutator.h - Seeded damage to files -----------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a disk, a transfer, another tool or an attacker makes of a file. Equal
// seeds damage equally, on every machine.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_TEST_UNIT_IMPORT_MUTATOR_H
#define SMP_TEST_UNIT_IMPORT_MUTATOR_H

#include <nlohmann/json.hpp>
#include <random>
#include <string>

namespace smp::test {

class Mutator {
public:
  explicit Mutator(uint64_t seed) : engine(seed) {}

  /// In [0, bound).
  uint64_t below(uint64_t bound) { return engine() % bound; }

  /// Bits flipped, and parts cut off, taken out, doubled or overwritten.
  void damageBytes(std::string &bytes);
  /// Values replaced, taken out, doubled or exchanged, at any depth.
  void damageJson(nlohmann::json &value);
  /// Words, numbers and marks replaced, taken out, doubled or exchanged.
  void damageText(std::string &text);

private:
  void damageOnce(std::string &bytes);
  void damageOnce(nlohmann::json &value);
  nlohmann::json strangeValue(const nlohmann::json &instead);
  nlohmann::json &anyPart(nlohmann::json &value);

  std::mt19937_64 engine;
};

} // namespace smp::test

#endif // SMP_TEST_UNIT_IMPORT_MUTATOR_H
