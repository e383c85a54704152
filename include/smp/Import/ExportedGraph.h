//===- ExportedGraph.h - What torch.export wrote ----------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The exported program as plain data: the JSON's numbers, names and unions are
// resolved here (element types by the schema's numbering, sizes as
// expressions, infinities from their strings), so that nothing behind it knows
// the format.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IMPORT_EXPORTEDGRAPH_H
#define SMP_IMPORT_EXPORTEDGRAPH_H

#include "smp/Import/SizeExpr.h"
#include "smp/Support/DataType.h"
#include <map>
#include <string_view>

namespace smp::pt2 {

struct TensorMeta {
  std::optional<DataType> type; ///< none for a type smp has not

  std::vector<SizeExpr> sizes;
};

/// An argument of a node. A number is one of `sizes` (integers) or `floats`.
struct Argument {
  enum class Kind {
    None,
    Tensor,  ///< one of `tensors`
    Tensors, ///< all of `tensors`; an empty name is None
    Size,    ///< one of `sizes`
    Sizes,
    Float, ///< one of `floats`
    Floats,
    Bool, ///< `flag`
    Text, ///< `text`
    Type, ///< `type`
    Other ///< device, layout and what no importer reads; `text` is its kind
  };
  Kind kind = Kind::None;
  std::string name;
  std::vector<std::string> tensors;
  std::vector<SizeExpr> sizes;
  std::vector<double> floats;
  bool flag = false;
  std::string text;
  std::optional<DataType> type;
};

/// A call of a PyTorch operator.
struct Node {
  /// "aten.add.Tensor".
  std::string target;
  std::vector<Argument> arguments;
  /// Names of the tensors it gives; empty for a result that is None.
  std::vector<std::string> outputs;
  /// It gives sizes only, which expressions already stand for.
  bool givesSizes = false;
  /// Path of the innermost module, "transformer.h.0.attn".
  std::string scope;
  /// The innermost line of the model's source; no file if unknown.
  std::string file;
  unsigned line = 0;
};

struct GraphInput {
  enum class Kind { Parameter, Buffer, Constant, User };
  Kind kind = Kind::User;
  std::string value;  ///< name in the graph
  std::string target; ///< name in the model; empty for a user's input
  bool persistent = true;
};

struct GraphOutput {
  std::string value;
  /// The buffer that is set to the value, for a mutation; else empty.
  std::string mutates;
};

struct ExportedGraph {
  std::vector<GraphInput> inputs;
  std::vector<GraphOutput> outputs;
  std::vector<Node> nodes;
  std::map<std::string, TensorMeta, std::less<>> tensors;

  /// Reads `models/<name>.json`. `where` begins each message.
  static Result<ExportedGraph> parse(std::string_view text,
                                     const std::string &where);
};

} // namespace smp::pt2

#endif // SMP_IMPORT_EXPORTEDGRAPH_H
