//===- Layout.cpp - Megatron's layout string ------------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Partition/Layout.h"

#include <algorithm>
#include <cctype>

namespace smp::partition {

/// More stages and layers than any model has; bounds what a repetition makes.
static constexpr size_t kMaxSymbols = 1 << 16;

namespace {

/// Recursive descent over the text; groups nest.
class LayoutParser {
public:
  explicit LayoutParser(std::string_view text) : text(text) {}

  /// The symbols in order, stages ended by '|'.
  Result<std::string> run() {
    SMP_ASSIGN_OR_RETURN(std::string symbols, readSequence(0));
    if (at < text.size())
      return wrong("a symbol E, t, L or '|'");
    return symbols;
  }

private:
  Error wrong(std::string_view expected) const {
    std::string got = at < text.size()
                          ? "'" + std::string(1, text[at]) + "' at character " +
                                std::to_string(at + 1)
                          : "its end";
    return {"'pipeline_layout' expects " + std::string(expected) + ", got " +
                got,
            "as in 'Et*3|(tt|)*2t|L': E before the layers, t a layer, L after "
            "them, '|' between stages"};
  }

  void skipSpace() {
    while (
        at < text.size() &&
        (text[at] == ',' || std::isspace(static_cast<unsigned char>(text[at]))))
      ++at;
  }

  Result<std::string> readSequence(int depth) {
    std::string symbols;
    for (skipSpace(); at < text.size() && text[at] != ')'; skipSpace()) {
      SMP_ASSIGN_OR_RETURN(std::string item, readItem(depth));
      SMP_ASSIGN_OR_RETURN(size_t count, readCount());
      if (item.size() * count + symbols.size() > kMaxSymbols)
        return wrong("at most " + std::to_string(kMaxSymbols) + " symbols");
      for (size_t i = 0; i < count; ++i)
        symbols += item;
    }
    return symbols;
  }

  Result<std::string> readItem(int depth) {
    char symbol = text[at];
    if (symbol == 'E' || symbol == 't' || symbol == 'L' || symbol == '|') {
      ++at;
      return std::string(1, symbol);
    }
    if (symbol == 'm')
      return Error{"'pipeline_layout' expects a model without layers for "
                   "multi-token prediction, got 'm' at character " +
                   std::to_string(at + 1)};
    if (symbol != '(' || depth == 16)
      return wrong("a symbol E, t, L or '|'");
    ++at;
    SMP_ASSIGN_OR_RETURN(std::string group, readSequence(depth + 1));
    if (at == text.size())
      return wrong("')'");
    ++at;
    return group;
  }

  Result<size_t> readCount() {
    skipSpace();
    if (at == text.size() || text[at] != '*')
      return size_t(1);
    ++at;
    skipSpace();
    size_t count = 0, digits = at;
    for (;
         at < text.size() && std::isdigit(static_cast<unsigned char>(text[at]));
         ++at)
      count = std::min(kMaxSymbols + 1, count * 10 + size_t(text[at] - '0'));
    if (at == digits)
      return wrong("a number of repetitions behind '*'");
    return count;
  }

  std::string_view text;
  size_t at = 0;
};

} // namespace

static std::vector<std::string> split(const std::string &symbols) {
  std::vector<std::string> stages(1);
  for (char symbol : symbols)
    if (symbol == '|')
      stages.emplace_back();
    else
      stages.back() += symbol;
  // "(tt|)*2" ends its last stage too.
  if (stages.size() > 1 && stages.back().empty())
    stages.pop_back();
  return stages;
}

Result<std::vector<std::string>> parseLayout(std::string_view layout) {
  SMP_ASSIGN_OR_RETURN(std::string symbols, LayoutParser(layout).run());
  std::string order = symbols;
  std::erase(order, '|');
  size_t layers = std::count(order.begin(), order.end(), 't');
  bool inOrder = order == 'E' + std::string(layers, 't') + 'L';
  if (!inOrder)
    return Error{"'pipeline_layout' expects one E, then the layers, then one "
                 "L, got '" +
                     order.substr(0, 40) + (order.size() > 40 ? "...'" : "'"),
                 "as in 'Ett|ttL' for a model of four layers"};
  std::vector<std::string> stages = split(symbols);
  for (size_t stage = 0; stage < stages.size(); ++stage)
    if (stages[stage].empty())
      return Error{"'pipeline_layout' expects something in each stage, got an "
                   "empty stage " +
                   std::to_string(stage)};
  return stages;
}

std::string_view layerOf(std::string_view path) {
  for (size_t begin = 0; begin < path.size();) {
    size_t end = std::min(path.find('.', begin), path.size());
    std::string_view name = path.substr(begin, end - begin);
    if (!name.empty() && std::ranges::all_of(name, [](char c) {
          return std::isdigit(static_cast<unsigned char>(c));
        }))
      return path.substr(0, end);
    begin = end + 1;
  }
  return {};
}

/// For each unit 0 before the layers, n in the n-th layer or behind it, and
/// one more than their number after the last.
static std::vector<size_t> places(const std::vector<std::string> &paths,
                                  size_t &layers) {
  std::vector<std::string_view> seen;
  std::vector<size_t> place;
  size_t current = 0, last = 0;
  for (const std::string &path : paths) {
    std::string_view layer = layerOf(path);
    if (!layer.empty()) {
      auto known = std::ranges::find(seen, layer);
      if (known == seen.end()) {
        seen.push_back(layer);
        current = seen.size();
      }
      last = place.size();
    }
    place.push_back(current);
  }
  layers = seen.size();
  for (size_t unit = last + 1; layers > 0 && unit < place.size(); ++unit)
    place[unit] = layers + 1;
  return place;
}

Result<std::vector<int>> stagesByLayout(std::string_view layout,
                                        const std::vector<std::string> &paths,
                                        int ranks) {
  SMP_ASSIGN_OR_RETURN(std::vector<std::string> stages, parseLayout(layout));
  if (stages.size() % static_cast<size_t>(ranks) != 0)
    return Error{"'pipeline_layout' expects a multiple of "
                 "'pipeline_parallel_degree' " +
                 std::to_string(ranks) + " as number of stages, got " +
                 std::to_string(stages.size())};
  size_t layers = 0;
  std::vector<size_t> place = places(paths, layers);
  std::vector<int> stageOfPlace;
  for (size_t stage = 0; stage < stages.size(); ++stage)
    stageOfPlace.insert(stageOfPlace.end(), stages[stage].size(),
                        static_cast<int>(stage));
  if (stageOfPlace.size() != layers + 2)
    return Error{
        "'pipeline_layout' expects as many t as the model has layers, " +
            std::to_string(layers) + ", got " +
            std::to_string(stageOfPlace.size() - 2),
        layers == 0 ? "no module of the model is a numbered part of a list"
                    : "the first layer is '" +
                          std::string(layerOf(*std::ranges::find_if(
                              paths,
                              [](const std::string &path) {
                                return !layerOf(path).empty();
                              }))) +
                          "'"};
  std::vector<int> result;
  std::vector<bool> used(stages.size());
  for (size_t unit : place) {
    result.push_back(stageOfPlace[unit]);
    used[result.back()] = true;
  }
  for (size_t stage = 0; stage < used.size(); ++stage)
    if (!used[stage])
      return Error{
          "'pipeline_layout' expects ops in each stage, got none in "
          "stage " +
              std::to_string(stage) + ", '" + stages[stage] + "'",
          "the model computes nothing there; join it with a neighbour"};
  return result;
}

} // namespace smp::partition
