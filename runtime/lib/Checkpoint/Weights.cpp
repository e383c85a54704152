//===- Weights.cpp - Initial weights from a file --------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Checkpoint/Weights.h"
#include <set>

using namespace smp;
using namespace smp::runtime;

static bool isFloating(DataType type) {
  return type == DataType::F64 || type == DataType::F32 ||
         type == DataType::BF16 || type == DataType::F16;
}

static const TensorView *findTensor(const SafetensorsFile &file,
                                    const WeightTarget &weight) {
  if (const TensorView *view = file.find(weight.target.name))
    return view;
  for (const std::string &alias : weight.aliases)
    if (const TensorView *view = file.find(alias))
      return view;
  return nullptr;
}

/// Why `view` cannot fill `target`, or nothing.
static std::string mismatch(const LoadTarget &target, const TensorView &view) {
  if (view.shape != target.shape)
    return "'" + target.name + "' expects shape " + shapeString(target.shape) +
           ", got " + shapeString(view.shape);
  if (view.type != target.type &&
      !(isFloating(view.type) && isFloating(target.type)))
    return "'" + target.name + "' expects " +
           std::string(dataTypeName(target.type)) + ", got " +
           std::string(dataTypeName(view.type));
  return {};
}

/// Shown of a long list of complaints.
static constexpr size_t maxShown = 10;

static Error complain(const std::string &path,
                      const std::vector<std::string> &complaints) {
  std::string text = "'" + path +
                     "' expects every parameter of the model, got " +
                     std::to_string(complaints.size()) +
                     (complaints.size() == 1 ? " that is" : " that are") +
                     " missing or misshapen: ";
  for (size_t i = 0; i < complaints.size() && i < maxShown; ++i)
    text += (i ? "; " : "") + complaints[i];
  if (complaints.size() > maxShown)
    text += "; and " + std::to_string(complaints.size() - maxShown) + " more";
  return Error{text, "names are PyTorch's, as in the model's state_dict"};
}

Result<std::vector<std::string>>
runtime::loadWeights(const std::string &path,
                     std::span<const WeightTarget> targets) {
  SMP_ASSIGN_OR_RETURN(SafetensorsFile file, SafetensorsFile::open(path));
  std::vector<std::string> complaints;
  std::set<std::string_view> used;
  for (const WeightTarget &weight : targets) {
    const TensorView *view = findTensor(file, weight);
    if (!view && weight.optional)
      continue;
    std::string wrong = view ? mismatch(weight.target, *view)
                             : "'" + weight.target.name + "' is missing";
    if (!wrong.empty()) {
      complaints.push_back(wrong);
      continue;
    }
    used.insert(view->name);
    used.insert(weight.aliases.begin(), weight.aliases.end());
    convertElements(view->type, view->data.data(), weight.target.type,
                    weight.target.data, view->elements());
  }
  if (!complaints.empty())
    return complain(path, complaints);
  std::vector<std::string> unused;
  for (const TensorView &view : file.tensors())
    if (!used.contains(view.name))
      unused.push_back(view.name);
  return unused;
}
