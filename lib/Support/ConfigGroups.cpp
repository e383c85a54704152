//===- ConfigGroups.cpp - Which parameters a group means ------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one file that is compiled with exceptions, by which std::regex reports.
//
//===----------------------------------------------------------------------===//

#include "ConfigDetail.h"
#include <algorithm>
#include <regex>

using namespace smp;

static std::optional<std::regex> compile(const std::string &text) {
  try {
    return std::regex(text);
  } catch (const std::regex_error &) {
    return std::nullopt;
  }
}

bool detail::isRegularExpression(const std::string &text) {
  return compile(text).has_value();
}

bool smp::matchesAny(const OptimizerGroup &group,
                     std::span<const std::string> names) {
  std::optional<std::regex> expression = compile(group.match);
  return expression && std::ranges::any_of(names, [&](const std::string &name) {
           return std::regex_search(name, *expression);
         });
}

const OptimizerGroup *smp::groupOf(const OptimizerConfig &optimizer,
                                   std::span<const std::string> names) {
  auto found =
      std::ranges::find_if(optimizer.groups, [&](const OptimizerGroup &group) {
        return matchesAny(group, names);
      });
  return found == optimizer.groups.end() ? nullptr : &*found;
}
