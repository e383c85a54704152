//===- DescribeArchive.cpp - The description of a plain archive -----------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Import/DescribeArchive.h"
#include <algorithm>
#include <set>
#include <tuple>

using namespace smp;
using namespace smp::pt2;
using InputKind = GraphInput::Kind;

namespace {

class ArchiveDescriber {
public:
  ArchiveDescriber(const Pt2Archive &archive, const ArchiveHints &hints)
      : archive(archive), graph(archive.train()), hints(hints) {}

  Result<Description> run();

private:
  const TensorMeta &metaOf(const std::string &value) const {
    return graph.tensors.find(value)->second;
  }
  void findBatch();
  Status describeInputs();
  Status describeOutputs(const std::string &name, const ExportedGraph &graph);
  Result<size_t> findLoss(const ExportedGraph &graph,
                          const std::vector<std::string> &names) const;
  void describeParameters();

  const Pt2Archive &archive;
  const ExportedGraph &graph;
  const ArchiveHints &hints;
  Description result;
};

/// 'a', 'b', 'c'.
std::string quotedList(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

/// The symbol that a size is, or empty.
std::string symbolOf(const SizeExpr &size) {
  const auto &terms = size.getTerms();
  bool symbol = terms.size() == 1 && terms.begin()->first.size() == 1 &&
                terms.begin()->second == 1;
  return symbol ? terms.begin()->first.front() : "";
}

/// The batch is dim 0 of the first input whose dim 0 may vary, or else of the
/// first that has dims.
void ArchiveDescriber::findBatch() {
  int64_t fixed = 0;
  for (const GraphInput &input : graph.inputs) {
    if (input.kind != InputKind::User || metaOf(input.value).sizes.empty())
      continue;
    const SizeExpr &size = metaOf(input.value).sizes.front();
    if (std::string symbol = symbolOf(size); !symbol.empty()) {
      result.batchSymbol = symbol;
      auto example = graph.examples.find(symbol);
      result.exampleBatch =
          example == graph.examples.end() ? 0 : example->second;
      return;
    }
    if (fixed == 0)
      fixed = size.constant().value_or(0);
  }
  result.exampleBatch = fixed;
}

Status ArchiveDescriber::describeInputs() {
  static const std::vector<std::string> kLabels = {"labels", "label", "targets",
                                                   "target"};
  const std::vector<std::string> &labels =
      hints.labels.empty() ? kLabels : hints.labels;
  std::vector<std::string> names;
  for (const GraphInput &input : graph.inputs) {
    if (input.kind != InputKind::User)
      continue;
    names.push_back(input.path.empty() ? input.value : input.path);
    bool label = std::ranges::find(labels, names.back()) != labels.end();
    result.inputs[input.value] = {names.back(), label ? "label" : "input"};
  }
  for (const std::string &label : hints.labels)
    if (std::ranges::find(names, label) == names.end())
      return Error{"expects --labels to name inputs out of " +
                   quotedList(names) + ", got '" + label + "'"};
  return {};
}

/// The place of the loss among the outputs, as smp.export finds it: the one
/// called `loss`, or the only scalar. One behind the last when there is none:
/// such a graph can be looked at, but not trained.
Result<size_t>
ArchiveDescriber::findLoss(const ExportedGraph &graph,
                           const std::vector<std::string> &names) const {
  const std::string wanted = hints.loss.empty() ? "loss" : hints.loss;
  if (auto named = std::ranges::find(names, wanted); named != names.end())
    return size_t(named - names.begin());
  if (!hints.loss.empty())
    return Error{"expects --loss-output to name one of " + quotedList(names) +
                 ", got '" + hints.loss + "'"};
  size_t scalars = 0, found = names.size(), next = 0;
  for (const GraphOutput &output : graph.outputs) {
    if (!output.mutates.empty())
      continue;
    size_t place = next++;
    const TensorMeta &meta = graph.tensors.find(output.value)->second;
    if (!meta.sizes.empty() || !meta.isFloating())
      continue;
    found = place;
    ++scalars;
  }
  if (scalars > 1)
    return Error{"expects one scalar output that is the loss, got " +
                     std::to_string(scalars) + " of the outputs " +
                     quotedList(names),
                 "name the loss, as in --loss-output=" + names[found]};
  return found;
}

Status ArchiveDescriber::describeOutputs(const std::string &name,
                                         const ExportedGraph &graph) {
  std::vector<std::string> values, names;
  for (const GraphOutput &output : graph.outputs)
    if (output.mutates.empty()) {
      values.push_back(output.value);
      names.push_back(output.path.empty() ? output.value : output.path);
    }
  SMP_ASSIGN_OR_RETURN(size_t loss, findLoss(graph, names));
  for (size_t i = 0; i < names.size(); ++i)
    result.outputs[name].emplace_back(
        values[i], Description::Port{names[i], i == loss ? "loss" : "output"});
  return {};
}

void ArchiveDescriber::describeParameters() {
  std::set<std::string> others;
  for (const std::vector<std::string> &names : result.aliases)
    others.insert(names.begin() + 1, names.end());
  for (const GraphInput &input : graph.inputs) {
    if (input.kind != InputKind::Parameter || others.count(input.target))
      continue;
    Description::Parameter parameter;
    if (auto found = archive.weights().find(input.target);
        found != archive.weights().end())
      parameter.trainable = found->second.trainable;
    result.order.push_back(input.target);
    result.parameters[input.target] = parameter;
  }
}

Result<Description> ArchiveDescriber::run() {
  findBatch();
  SMP_RETURN_IF_ERROR(describeInputs());
  SMP_RETURN_IF_ERROR(describeOutputs("model", graph));
  if (archive.eval())
    SMP_RETURN_IF_ERROR(describeOutputs("eval", *archive.eval()));
  result.aliases = aliasGroups(archive);
  describeParameters();
  result.convention = hints.convention == "none" ? "" : hints.convention;
  return result;
}

} // namespace

/// Names of one real storage are one parameter. (Left out values of one type
/// all share one empty storage.)
static std::vector<std::vector<std::string>>
tiedByStorage(const Pt2Archive &archive) {
  using Place = std::tuple<std::string, int64_t, std::vector<int64_t>,
                           std::vector<int64_t>>;
  const ExportedGraph &graph = archive.train();
  std::set<std::string> used;
  for (const Node &node : graph.nodes)
    for (const Argument &argument : node.arguments)
      used.insert(argument.tensors.begin(), argument.tensors.end());
  for (const GraphOutput &output : graph.outputs)
    used.insert(output.value);
  std::map<Place, std::vector<std::string>> byPlace;
  for (const GraphInput &input : graph.inputs) {
    auto found = archive.weights().find(input.target);
    if (input.kind != InputKind::Parameter ||
        found == archive.weights().end() || !found->second.hasData)
      continue;
    const StoredTensor &tensor = found->second;
    std::vector<std::string> &names =
        byPlace[{tensor.member, tensor.offset, tensor.shape, tensor.strides}];
    // The graph uses one of the names; that one is canonical.
    names.insert(used.count(input.value) ? names.begin() : names.end(),
                 input.target);
  }
  std::vector<std::vector<std::string>> groups;
  for (const auto &[place, names] : byPlace)
    if (names.size() > 1)
      groups.push_back(names);
  return groups;
}

std::vector<std::vector<std::string>>
smp::pt2::aliasGroups(const Pt2Archive &archive) {
  return archive.description() ? archive.description()->aliases
                               : tiedByStorage(archive);
}

Result<Description> smp::pt2::describeArchive(const Pt2Archive &archive,
                                              const ArchiveHints &hints) {
  const std::string &convention = hints.convention;
  if (!convention.empty() && convention != "hf" && convention != "next-token" &&
      convention != "none")
    return Error{"expects --data-convention=hf, next-token or none, got '" +
                 convention + "'"};
  if (!archive.description())
    return ArchiveDescriber(archive, hints).run();
  if (!hints.empty())
    return Error{"expects --labels, --loss-output and --data-convention only "
                 "for archives of torch.export.save, got one of smp.export",
                 "give them to smp.export"};
  return *archive.description();
}
