//===- Autocast.cpp - The casts of torch.autocast -------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Autocast.h"
#include "AtenNames.h"
#include <algorithm>
#include <array>

using namespace smp;
using namespace smp::pt2;

// The union of what PyTorch lists for CPUs and CUDA, of the operators that smp
// imports: see "Autocast Op Reference" in PyTorch's documentation.

/// Computed in the narrow type.
static constexpr std::array kNarrow = {"addmm",
                                       "baddbmm",
                                       "bmm",
                                       "conv1d",
                                       "conv2d",
                                       "conv3d",
                                       "einsum",
                                       "linear",
                                       "matmul",
                                       "mm",
                                       "scaled_dot_product_attention"};

/// Computed in float32.
static constexpr std::array kPrecise = {"binary_cross_entropy_with_logits",
                                        "cross_entropy_loss",
                                        "cumsum",
                                        "exp",
                                        "expm1",
                                        "group_norm",
                                        "huber_loss",
                                        "kl_div",
                                        "l1_loss",
                                        "layer_norm",
                                        "linalg_vector_norm",
                                        "log",
                                        "log10",
                                        "log1p",
                                        "log2",
                                        "log_softmax",
                                        "logsumexp",
                                        "mse_loss",
                                        "nll_loss",
                                        "nll_loss_nd",
                                        "norm",
                                        "pow",
                                        "prod",
                                        "reciprocal",
                                        "rsqrt",
                                        "smooth_l1_loss",
                                        "softmax",
                                        "softplus",
                                        "sum"};

static std::optional<DataType> computedIn(std::string_view name,
                                          DataType narrow) {
  auto isIn = [&](const auto &names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (isIn(kNarrow))
    return narrow;
  if (isIn(kPrecise))
    return DataType::F32;
  return std::nullopt;
}

/// y = x in another type; a new value. Equal casts are not shared: the tensor
/// may have been changed in between.
static std::string castBefore(const Node &user, const std::string &tensor,
                              DataType type, TensorMetas &tensors,
                              std::vector<Node> &nodes) {
  std::string name = tensor + "/cast" + std::to_string(nodes.size());
  TensorMeta meta = tensors.find(tensor)->second;
  meta.type = type;
  tensors.insert_or_assign(name, meta);
  Node cast;
  cast.target = "aten._to_copy.default";
  cast.scope = user.scope;
  cast.file = user.file;
  cast.line = user.line;
  cast.gradientFree = user.gradientFree;
  Argument &self = cast.arguments.emplace_back();
  self.kind = Argument::Kind::Tensor;
  self.name = "self";
  self.tensors = {tensor};
  cast.outputs = {name};
  nodes.push_back(std::move(cast));
  return name;
}

void smp::pt2::castArguments(Node &node, DataType narrow, TensorMetas &tensors,
                             std::vector<Node> &nodes) {
  std::optional<DataType> type = computedIn(AtenName(node.target).name, narrow);
  if (!type || node.outputs.empty())
    return;
  auto result = tensors.find(node.outputs.front());
  if (result == tensors.end() || result->second.type != type)
    return;
  for (Argument &argument : node.arguments)
    for (std::string &tensor : argument.tensors) {
      auto meta = tensors.find(tensor);
      if (meta != tensors.end() && meta->second.isFloating() &&
          meta->second.type != DataType::F64 && meta->second.type != type)
        tensor = castBefore(node, tensor, *type, tensors, nodes);
    }
}
