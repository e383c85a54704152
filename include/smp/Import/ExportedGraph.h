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
#include <memory>
#include <string_view>

namespace smp::pt2 {

struct TensorMeta {
  std::optional<DataType> type; ///< none for a type smp has not

  std::vector<SizeExpr> sizes;
  /// Elements between neighbours along each dim; empty when not known.
  std::vector<SizeExpr> strides;

  bool isFloating() const {
    return type == DataType::F64 || type == DataType::F32 ||
           type == DataType::BF16 || type == DataType::F16;
  }
  /// Whether elements lie in row-major order; false when it is not known.
  bool isContiguous() const;
};

using TensorMetas = std::map<std::string, TensorMeta, std::less<>>;

struct Region;

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
    Bool,  ///< `flag`
    Text,  ///< `text`
    Type,  ///< `type`
    Graph, ///< `region`
    Other  ///< device, layout and what no importer reads; `text` is its kind
  };
  Kind kind = Kind::None;
  std::string name;
  std::vector<std::string> tensors;
  std::vector<SizeExpr> sizes;
  std::vector<double> floats;
  bool flag = false;
  std::string text;
  std::optional<DataType> type;
  std::shared_ptr<const Region> region;
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
  /// It stands in a region whose results have no gradient.
  bool gradientFree = false;
  /// Why it cannot be imported, where that is known before the import table.
  std::string refusal;

  const Argument *find(std::string_view name) const;
};

/// A graph that a node runs, such as the body of `with torch.no_grad()`.
struct Region {
  /// One for each argument that the node hands in; empty for a size.
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<Node> nodes;
  TensorMetas tensors;
};

struct GraphInput {
  enum class Kind { Parameter, Buffer, Constant, User };
  Kind kind = Kind::User;
  std::string value;  ///< name in the graph
  std::string target; ///< name in the model; empty for a user's input
  bool persistent = true;
  /// A user's input as the call names it, "input_ids"; empty if by position.
  std::string path = {};
};

struct GraphOutput {
  std::string value;
  /// The buffer that is set to the value, for a mutation; else empty.
  std::string mutates;
  /// The result as the call names it: its keys, "output_<i>" for the i-th of a
  /// tuple, "output" for the only one; empty if not known.
  std::string path = {};
};

struct ExportedGraph {
  std::vector<GraphInput> inputs;
  std::vector<GraphOutput> outputs;
  std::vector<Node> nodes;
  TensorMetas tensors;
  /// The sizes that symbols had in the example that was exported.
  std::map<std::string, int64_t> examples;
  /// The operators are those of a decomposition, and not what was traced.
  bool decomposed = false;

  /// Reads `models/<name>.json`. `where` begins each message.
  static Result<ExportedGraph> parse(std::string_view text,
                                     const std::string &where);
};

} // namespace smp::pt2

#endif // SMP_IMPORT_EXPORTEDGRAPH_H
