//===- GraphReader.h - Reads one exported graph -----------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From `models/<name>.json` to an ExportedGraph. The signature is read in
// ExportedGraph.cpp; nodes, their arguments and the graphs that they run in
// ReadNodes.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_IMPORT_GRAPHREADER_H
#define SMP_LIB_IMPORT_GRAPHREADER_H

#include "JsonReader.h"
#include "smp/Import/ExportedGraph.h"

namespace smp::pt2 {

class GraphReader {
public:
  using Json = JsonReader::Json;

  explicit GraphReader(const std::string &where) : json(where) {}

  Result<ExportedGraph> read(std::string_view text);

private:
  // The signature.
  void checkVersion(const Json &root);
  void readForm(const Json &root);
  void readCall(const Json &module);
  void readInputs(const Json &signature);
  GraphInput readInput(std::string_view tag, const Json &inner,
                       const Json &arg);
  void readOutputs(const Json &signature);

  // Sizes and tensors.
  void readSymbols(const Json &graph);
  void readTensors(const Json &graph);
  SizeExpr readSize(const Json &value);
  SizeExpr readExpression(const Json &value);
  /// The name of a tensor of the graph that is being read.
  std::string tensorName(const Json &value);
  /// The tensor of an Argument; empty for numbers and None.
  std::string argumentName(const Json &value);

  // Nodes.
  void readNodes(const Json &graph, std::vector<Node> &into);
  Node readNode(const Json &json);
  Argument readArgument(const Json &value);
  bool readTensorArgument(std::string_view tag, const Json &inner,
                          Argument &argument);
  bool readNumberArgument(std::string_view tag, const Json &inner,
                          Argument &argument);
  std::shared_ptr<const Region> readRegion(const Json &value);
  void readResult(const Json &value, Node &node);

  JsonReader json;
  ExportedGraph result;
  /// Of the graph that is being read: its tensors, and its values that are
  /// sizes.
  TensorMetas tensors;
  std::map<std::string, SizeExpr> symbols;
  /// Names of the call's arguments and results, in order; empty if not known.
  std::vector<std::string> inputPaths, outputPaths;
};

} // namespace smp::pt2

#endif // SMP_LIB_IMPORT_GRAPHREADER_H
