//===- TensorViews.h - Operators whose result shares memory -----*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PyTorch's views share the memory of their base. Two things are asked of each:
// does this node make a view, and what is the base once the view has been
// changed?
//
//   | view                     | base after the view became v    |
//   |--------------------------|---------------------------------|
//   | view, unsqueeze, ...     | view(v, sizes of the base)      |
//   | transpose, permute, ...  | the inverse permutation of v    |
//   | slice, narrow, split     | slice_scatter(base, v, ...)     |
//   | select, unbind           | select_scatter(base, v, ...)    |
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_IMPORT_TENSORVIEWS_H
#define SMP_LIB_IMPORT_TENSORVIEWS_H

#include "smp/Import/ExportedGraph.h"

namespace smp::pt2 {

enum class Sharing {
  Copy,    ///< memory of its own
  View,    ///< that of the base
  Unknown, ///< PyTorch may give either
};

/// The base of what the node gives, if it may share memory: null for a copy.
const Argument *viewedArgument(const Node &node);

/// Whether the node's results share the memory of its base.
Sharing sharingOf(const Node &node, const TensorMetas &tensors);

/// Whether the view cuts the way that gradients take to its base.
bool isDetached(const Node &node);

/// The node that gives the base once result `output` of a view is `value`;
/// `base` is its value before. It has no outputs yet. None for a view through
/// which nothing can be written.
std::optional<Node> writeBack(const Node &view, size_t output,
                              const std::string &base,
                              const TensorMeta &baseMeta,
                              const std::string &value,
                              const TensorMetas &tensors);

// Arguments of the nodes that are made here.
Argument tensorArgument(std::string name, std::string tensor);
Argument sizesArgument(std::string name, std::vector<SizeExpr> sizes);
Argument sizeArgument(std::string name, SizeExpr size);

} // namespace smp::pt2

#endif // SMP_LIB_IMPORT_TENSORVIEWS_H
