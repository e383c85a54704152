//===- ModelNames.cpp - Names and roles in a model ------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelNames.h"
#include <algorithm>
#include <set>
#include <tuple>

using namespace smp;
using namespace smp::pt2;

/// Names of values that some node or output uses.
static std::set<std::string> usedValues(const ExportedGraph &graph) {
  std::set<std::string> used;
  for (const Node &node : graph.nodes)
    for (const Argument &argument : node.arguments)
      used.insert(argument.tensors.begin(), argument.tensors.end());
  for (const GraphOutput &output : graph.outputs)
    used.insert(output.value);
  return used;
}

void ModelNames::addGroup(const std::vector<std::string> &names) {
  for (const std::string &name : names)
    groupOf.emplace(name, groups.size());
  groups.push_back(names);
}

/// Without a description, names of one real storage are one parameter. (Left
/// out values of one type all share one empty storage.)
void ModelNames::tieSharedStorages(const Pt2Archive &archive) {
  using Place = std::tuple<std::string, int64_t, std::vector<int64_t>>;
  std::map<Place, std::vector<std::string>> byPlace;
  std::set<std::string> used = usedValues(archive.train());
  for (const GraphInput &input : archive.train().inputs) {
    auto tensor = archive.weights().find(input.target);
    if (input.kind != GraphInput::Kind::Parameter ||
        tensor == archive.weights().end() || !tensor->second.hasData)
      continue;
    std::vector<std::string> &names = byPlace[{
        tensor->second.member, tensor->second.offset, tensor->second.shape}];
    // The graph uses one of the names; that one is canonical.
    names.insert(used.count(input.value) ? names.begin() : names.end(),
                 input.target);
  }
  for (const auto &[place, names] : byPlace)
    if (names.size() > 1)
      addGroup(names);
}

ModelNames::ModelNames(const Pt2Archive &archive)
    : description(archive.description()) {
  if (description)
    for (const std::vector<std::string> &names : description->aliases)
      addGroup(names);
  else
    tieSharedStorages(archive);
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
  if (description)
    for (const std::string &name : description->order)
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
  if (description) {
    auto found = description->inputs.find(value);
    if (found != description->inputs.end())
      return found->second;
  }
  bool label = value.starts_with("label") || value.starts_with("target");
  return {value, label ? "label" : "input"};
}

Description::Port ModelNames::output(const std::string &graph,
                                     const ExportedGraph &content,
                                     const std::string &value) const {
  if (description) {
    auto listed = description->outputs.find(graph);
    if (listed != description->outputs.end())
      if (auto found = listed->second.find(value);
          found != listed->second.end())
        return found->second;
  }
  // The first scalar of floating type is the loss.
  for (const GraphOutput &output : content.outputs) {
    auto tensor = content.tensors.find(output.value);
    if (tensor == content.tensors.end() || !tensor->second.sizes.empty())
      continue;
    return {value == output.value ? "loss" : value,
            value == output.value ? "loss" : "output"};
  }
  return {value, "output"};
}
