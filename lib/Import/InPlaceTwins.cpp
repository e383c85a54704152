//===- InPlaceTwins.cpp - What computes a mutation's new value ------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InPlaceTwins.h"
#include "AtenNames.h"
#include <algorithm>
#include <array>

using namespace smp;
using namespace smp::pt2;
using Kind = Argument::Kind;

/// They change how memory is seen, not what it holds.
static constexpr std::array kMetadata = {
    "as_strided_", "rename_", "requires_grad_", "resize_",
    "resize_as_",  "set_",    "squeeze_",       "swapaxes_",
    "swapdims_",   "t_",      "transpose_",     "unsqueeze_"};

/// They convert what they are given to the type of the changed tensor.
static constexpr std::array kConverting = {
    "__iand__",    "__ior__",      "__ixor__",     "bitwise_and_",
    "bitwise_or_", "bitwise_xor_", "copy_",        "fill_",
    "index_copy_", "index_fill_",  "index_put_",   "logical_and_",
    "logical_or_", "logical_xor_", "masked_fill_", "masked_scatter_",
    "scatter_",    "scatter_add_", "zero_"};

/// Their twins call the operand `input`.
static constexpr std::array kInputs = {
    "alpha_dropout_", "dropout_", "feature_alpha_dropout_", "feature_dropout_"};

template <size_t N>
static bool isIn(const std::array<const char *, N> &names,
                 std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// "add" of "add_", "__and__" of "__iand__"; empty for what changes nothing.
static std::string functionalName(std::string_view name) {
  if (name.ends_with("__")) // "__and__", "__iand__"
    return name.starts_with("__i") && name != "__invert__"
               ? "__" + std::string(name.substr(3))
               : "";
  return name.ends_with("_") ? std::string(name.substr(0, name.size() - 1))
                             : "";
}

std::optional<Twin> smp::pt2::functionalTwin(std::string_view target) {
  AtenName aten(target);
  std::string name = functionalName(aten.name);
  if (name.empty())
    return std::nullopt;
  Twin twin;
  std::string overload(aten.overload);
  // An exponent may be the number and the base the tensor, or the other way.
  if (name == "pow")
    overload = "Tensor_" + overload;
  twin.target = "aten." + name + "." + overload;
  twin.promotes = !isIn(kConverting, aten.name);
  if (isIn(kInputs, aten.name))
    twin.operand = "input";
  if (isIn(kMetadata, aten.name))
    twin.refusal = "that changes the shape of its operand in place";
  return twin;
}

/// Bool, integer, floating.
static int category(DataType type) {
  switch (type) {
  case DataType::Bool:
    return 0;
  case DataType::U8:
  case DataType::I32:
  case DataType::I64:
    return 1;
  default:
    return 2;
  }
}

/// The wider of two types of one category.
static DataType wider(DataType a, DataType b) {
  if (byteWidth(a) == byteWidth(b) && a != b) // f16 and bf16
    return DataType::F32;
  return byteWidth(a) >= byteWidth(b) ? a : b;
}

std::optional<DataType> smp::pt2::computedType(const Node &node,
                                               const Twin &twin,
                                               const TensorMetas &tensors) {
  auto metaOf = [&](const Argument &argument) {
    auto found = tensors.find(argument.tensors.front());
    return found == tensors.end() ? nullptr : &found->second;
  };
  const Argument *self = node.find("self");
  const TensorMeta *own =
      self && self->kind == Kind::Tensor ? metaOf(*self) : nullptr;
  if (!own || !own->type || !twin.promotes)
    return own ? own->type : std::nullopt;
  DataType result = *own->type;
  for (const Argument &argument : node.arguments) {
    if (argument.kind != Kind::Tensor)
      continue;
    const TensorMeta *other = metaOf(argument);
    // Tensors without dims count as numbers; PyTorch refuses those of a higher
    // category itself.
    if (other && other->type && !other->sizes.empty() &&
        category(*other->type) == category(result))
      result = wider(result, *other->type);
  }
  return result;
}
