//===- TensorViews.cpp - Operators whose result shares memory -------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorViews.h"
#include "AtenNames.h"
#include <algorithm>

using namespace smp;
using namespace smp::pt2;
using Kind = Argument::Kind;

namespace {

/// How a view's elements lie in its base.
enum class Form {
  Reshape, ///< all of them in the same order
  Expand,  ///< repeated
  Permute, ///< `permute` or `movedim`, with lists of dims
  Swap,    ///< two dims swapped: its own inverse
  Slice,
  Narrow,
  Select,
  Pieces, ///< consecutive slices, one a result
  Unbind,
  Opaque ///< nothing is written back
};

/// Whether the result shares memory at all.
enum class When {
  Always,
  SameType,   ///< unless a conversion copies
  Contiguous, ///< when the base is contiguous, a copy when not
  ContiguousOrUnknown,
  Inactive, ///< a dropout that does nothing returns its operand
  Perhaps
};

struct View {
  std::string_view name; ///< of all overloads
  Form form;
  When when = When::Always;
};

constexpr View kViews[] = {
    {"_reshape_alias", Form::Opaque},
    {"adjoint", Form::Swap},
    {"alias", Form::Reshape},
    {"alpha_dropout", Form::Reshape, When::Inactive},
    {"as_strided", Form::Opaque, When::Perhaps},
    {"broadcast_tensors", Form::Opaque, When::Perhaps},
    {"broadcast_to", Form::Expand},
    {"chunk", Form::Pieces},
    {"contiguous", Form::Reshape, When::Contiguous},
    {"detach", Form::Reshape},
    {"diagonal", Form::Opaque},
    {"dropout", Form::Reshape, When::Inactive},
    {"einsum", Form::Opaque, When::Perhaps},
    {"expand", Form::Expand},
    {"expand_as", Form::Expand},
    {"feature_dropout", Form::Reshape, When::Inactive},
    {"flatten", Form::Reshape, When::ContiguousOrUnknown},
    {"lift_fresh", Form::Reshape},
    {"mH", Form::Swap},
    {"mT", Form::Swap},
    {"matrix_H", Form::Swap},
    {"movedim", Form::Permute},
    {"moveaxis", Form::Permute},
    {"narrow", Form::Narrow},
    {"numpy_T", Form::Opaque},
    {"permute", Form::Permute},
    {"ravel", Form::Reshape, When::ContiguousOrUnknown},
    {"reshape", Form::Reshape, When::ContiguousOrUnknown},
    {"reshape_as", Form::Reshape, When::ContiguousOrUnknown},
    {"select", Form::Select},
    {"slice", Form::Slice},
    {"split", Form::Pieces},
    {"split_with_sizes", Form::Pieces},
    {"squeeze", Form::Reshape},
    {"swapaxes", Form::Swap},
    {"swapdims", Form::Swap},
    {"t", Form::Swap},
    {"tensor_split", Form::Pieces},
    {"to", Form::Reshape, When::SameType},
    {"transpose", Form::Swap},
    {"type_as", Form::Reshape, When::SameType},
    {"unbind", Form::Unbind},
    {"unflatten", Form::Reshape},
    {"unfold", Form::Opaque},
    {"unsafe_chunk", Form::Pieces},
    {"unsafe_split", Form::Pieces},
    {"unsqueeze", Form::Reshape},
    {"view", Form::Reshape},
    {"view_as", Form::Reshape},
};

const View *findView(const Node &node) {
  AtenName aten(node.target);
  const View *found = std::ranges::find_if(
      kViews, [&](const View &view) { return view.name == aten.name; });
  // The same bits under another type.
  static constexpr View kBits{"view", Form::Opaque};
  if (aten.name == "view" && aten.overload == "dtype")
    return &kBits;
  return found == std::end(kViews) ? nullptr : found;
}

const TensorMeta *metaOf(const TensorMetas &tensors, const std::string &name) {
  auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : &found->second;
}

const TensorMeta *resultMeta(const Node &node, const TensorMetas &tensors) {
  return node.outputs.empty() ? nullptr : metaOf(tensors, node.outputs.front());
}

bool flagOf(const Node &node, std::string_view name, bool fallback) {
  const Argument *argument = node.find(name);
  return argument && argument->kind == Kind::Bool ? argument->flag : fallback;
}

/// A number that is known; none for another argument.
std::optional<int64_t> integerOf(const Node &node, std::string_view name,
                                 int64_t fallback) {
  const Argument *argument = node.find(name);
  if (!argument)
    return fallback;
  if (argument->kind != Kind::Size)
    return std::nullopt;
  return argument->sizes.front().constant();
}

bool isInactiveDropout(const Node &node) {
  const Argument *p = node.find("p");
  bool never = p && p->kind == Kind::Float && p->floats.front() == 0.0;
  return never || !flagOf(node, "train", true);
}

} // namespace

//===----------------------------------------------------------------------===//
// Sharing
//===----------------------------------------------------------------------===//

const Argument *smp::pt2::viewedArgument(const Node &node) {
  if (!findView(node) || node.arguments.empty())
    return nullptr;
  const Argument &first = node.arguments.front();
  return first.kind == Kind::Tensor || first.kind == Kind::Tensors ? &first
                                                                   : nullptr;
}

Sharing smp::pt2::sharingOf(const Node &node, const TensorMetas &tensors) {
  const View *view = findView(node);
  const Argument *base = viewedArgument(node);
  if (!view || !base)
    return Sharing::Copy;
  if (base->tensors.size() != 1)
    return Sharing::Unknown;
  const TensorMeta *from = metaOf(tensors, base->tensors.front());
  const TensorMeta *to = resultMeta(node, tensors);
  if (!from || !to)
    return Sharing::Unknown;
  bool ordered = from->isContiguous() && !node.find("memory_format");
  switch (view->when) {
  case When::Always:
    return Sharing::View;
  case When::SameType:
    return from->type == to->type && !flagOf(node, "copy", false)
               ? Sharing::View
               : Sharing::Copy;
  case When::Contiguous:
    if (from->strides.empty() || node.find("memory_format"))
      return Sharing::Unknown;
    return ordered ? Sharing::View : Sharing::Copy;
  case When::ContiguousOrUnknown:
    return ordered ? Sharing::View : Sharing::Unknown;
  case When::Inactive:
    return isInactiveDropout(node) ? Sharing::View : Sharing::Copy;
  case When::Perhaps:
    return Sharing::Unknown;
  }
  return Sharing::Unknown;
}

bool smp::pt2::isDetached(const Node &node) {
  return AtenName(node.target).name == "detach";
}

//===----------------------------------------------------------------------===//
// Writing back
//===----------------------------------------------------------------------===//

Argument smp::pt2::tensorArgument(std::string name, std::string tensor) {
  Argument argument;
  argument.kind = Kind::Tensor;
  argument.name = std::move(name);
  argument.tensors = {std::move(tensor)};
  return argument;
}

Argument smp::pt2::sizesArgument(std::string name,
                                 std::vector<SizeExpr> sizes) {
  Argument argument;
  argument.kind = Kind::Sizes;
  argument.name = std::move(name);
  argument.sizes = std::move(sizes);
  return argument;
}

Argument smp::pt2::sizeArgument(std::string name, SizeExpr size) {
  Argument argument = sizesArgument(std::move(name), {std::move(size)});
  argument.kind = Kind::Size;
  return argument;
}

/// An argument of the view under another name; absent if it was left out.
static void pass(const Node &view, std::string_view from, Node &to,
                 std::string name) {
  if (const Argument *argument = view.find(from)) {
    to.arguments.push_back(*argument);
    to.arguments.back().name = std::move(name);
  }
}

/// A permutation undone.
static bool invertPermute(const Node &view, Node &back) {
  if (const Argument *dims = view.find("dims")) {
    int64_t rank = dims->sizes.size();
    std::vector<SizeExpr> inverse(rank);
    for (int64_t i = 0; i < rank; ++i) {
      int64_t dim = dims->sizes[i].constant().value_or(rank);
      dim += dim < 0 ? rank : 0;
      if (dim < 0 || dim >= rank)
        return false;
      inverse[dim] = i;
    }
    back.target = "aten.permute.default";
    back.arguments.push_back(sizesArgument("dims", inverse));
    return true;
  }
  back.target = view.target;
  pass(view, "destination", back, "source");
  pass(view, "source", back, "destination");
  return back.arguments.size() == 3;
}

/// slice_scatter(base, value, dim, start, end): the base with a piece
/// replaced.
static Node replacedSlice(const Node &like, const std::string &base,
                          const std::string &value) {
  Node node = like;
  node.target = "aten.slice_scatter.default";
  node.arguments = {tensorArgument("self", base), tensorArgument("src", value)};
  pass(like, "dim", node, "dim");
  return node;
}

static Node replacedSelect(const Node &like, const std::string &base,
                           const std::string &value) {
  Node node = replacedSlice(like, base, value);
  node.target = "aten.select_scatter.default";
  return node;
}

/// The end of `[start, start + length)`. Counted from the back, a piece that
/// reaches the end has no end that is a number.
static bool addEnd(Node &node, int64_t start, const SizeExpr &length) {
  std::optional<SizeExpr> end = SizeExpr::add(start, length);
  if (!end)
    return false;
  node.arguments.push_back(sizeArgument("start", start));
  if (end->constant() != 0)
    node.arguments.push_back(sizeArgument("end", *end));
  return true;
}

/// The piece that result `output` is: it begins where those before end.
static std::optional<Node> writePiece(const Node &view, size_t output,
                                      const std::string &base,
                                      const std::string &value, size_t rank,
                                      const TensorMetas &tensors) {
  std::optional<int64_t> dim = integerOf(view, "dim", 0);
  if (!dim || *dim < -int64_t(rank) || *dim >= int64_t(rank))
    return std::nullopt;
  size_t place = *dim < 0 ? *dim + rank : *dim;
  int64_t start = 0;
  for (size_t i = 0; i <= output; ++i) {
    const TensorMeta *piece = metaOf(tensors, view.outputs[i]);
    if (!piece || piece->sizes.size() != rank)
      return std::nullopt;
    if (i == output) {
      Node node = replacedSlice(view, base, value);
      return addEnd(node, start, piece->sizes[place]) ? std::optional(node)
                                                      : std::nullopt;
    }
    std::optional<int64_t> size = piece->sizes[place].constant();
    if (!size)
      return std::nullopt;
    start += *size;
  }
  return std::nullopt;
}

/// Whether an expanded tensor repeats no element.
static bool repeatsNothing(const TensorMeta &base, const TensorMeta &view) {
  auto withoutUnits = [](std::vector<SizeExpr> sizes) {
    std::erase(sizes, SizeExpr(1));
    return sizes;
  };
  return withoutUnits(base.sizes) == withoutUnits(view.sizes);
}

std::optional<Node> smp::pt2::writeBack(const Node &view, size_t output,
                                        const std::string &base,
                                        const TensorMeta &baseMeta,
                                        const std::string &value,
                                        const TensorMetas &tensors) {
  const View *known = findView(view);
  const TensorMeta *meta = resultMeta(view, tensors);
  Node node = view;
  node.outputs.clear();
  node.arguments = {tensorArgument("self", value)};
  switch (known && meta ? known->form : Form::Opaque) {
  case Form::Expand:
    if (!repeatsNothing(baseMeta, *meta))
      return std::nullopt;
    [[fallthrough]];
  case Form::Reshape:
    node.target = "aten.view.default";
    node.arguments.push_back(sizesArgument("size", baseMeta.sizes));
    return node;
  case Form::Permute:
    return invertPermute(view, node) ? std::optional(node) : std::nullopt;
  case Form::Swap:
    node.arguments = view.arguments;
    node.arguments.front().tensors = {value};
    return node;
  case Form::Slice:
    node = replacedSlice(view, base, value);
    for (const char *name : {"start", "end", "step"})
      pass(view, name, node, name);
    return node;
  case Form::Narrow: {
    std::optional<int64_t> start = integerOf(view, "start", 0);
    const Argument *length = view.find("length");
    if (!start || !length || length->kind != Kind::Size)
      return std::nullopt;
    node = replacedSlice(view, base, value);
    if (!addEnd(node, *start, length->sizes.front()))
      return std::nullopt;
    return node;
  }
  case Form::Select:
    node = replacedSelect(view, base, value);
    pass(view, "index", node, "index");
    return node;
  case Form::Pieces:
    return writePiece(view, output, base, value, baseMeta.sizes.size(),
                      tensors);
  case Form::Unbind:
    node = replacedSelect(view, base, value);
    node.arguments.push_back(sizeArgument("index", int64_t(output)));
    return node;
  case Form::Opaque:
    return std::nullopt;
  }
  return std::nullopt;
}
