//===- ModelNames.cpp - Names and roles in a model ------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelNames.h"
#include <algorithm>
#include <set>

using namespace smp;
using namespace smp::pt2;

void ModelNames::addGroup(const std::vector<std::string> &names) {
  for (const std::string &name : names)
    groupOf.emplace(name, groups.size());
  groups.push_back(names);
}

ModelNames::ModelNames(const Pt2Archive &archive,
                       const Description &description)
    : description(description) {
  for (const std::vector<std::string> &names : description.aliases)
    addGroup(names);
  for (const ExportedGraph *graph : {&archive.train(), archive.eval()})
    for (const GraphInput &input :
         graph ? graph->inputs : std::vector<GraphInput>())
      if (input.kind == GraphInput::Kind::Parameter &&
          !groupOf.count(input.target))
        addGroup({input.target});
  std::set<std::string> seen;
  auto append = [&](const std::string &name) {
    if (groupOf.count(name) && seen.insert(namesOf(name).front()).second)
      order.push_back(namesOf(name).front());
  };
  for (const std::string &name : description.order)
    append(name);
  for (const GraphInput &input : archive.train().inputs)
    if (input.kind == GraphInput::Kind::Parameter)
      append(input.target);
}

const std::vector<std::string> &
ModelNames::namesOf(const std::string &name) const {
  return groups[groupOf.find(name)->second];
}

const std::string &ModelNames::aliasFor(const std::string &name,
                                        const std::string &scope) const {
  const std::vector<std::string> &names = namesOf(name);
  const std::string *best = &names.front();
  size_t longest = 0;
  for (const std::string &alias : names) {
    size_t dot = alias.rfind('.');
    std::string module = dot == alias.npos ? "" : alias.substr(0, dot);
    bool around =
        scope == module || (!module.empty() && scope.starts_with(module + "."));
    if (around && module.size() + 1 > longest) {
      longest = module.size() + 1;
      best = &alias;
    }
  }
  return *best;
}

Description::Port ModelNames::input(const std::string &value) const {
  auto found = description.inputs.find(value);
  return found == description.inputs.end() ? Description::Port{value, "input"}
                                           : found->second;
}

Description::Port ModelNames::output(const std::string &graph, size_t place,
                                     const std::string &value) const {
  if (auto listed = description.outputs.find(graph);
      listed != description.outputs.end()) {
    const auto &ports = listed->second;
    if (place < ports.size() && ports[place].first == value)
      return ports[place].second;
    for (const auto &[name, port] : ports)
      if (name == value)
        return port;
  }
  return {value, "output"};
}
