//===- GraphImporter.h - One graph as a function ----------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_IMPORT_GRAPHIMPORTER_H
#define SMP_LIB_IMPORT_GRAPHIMPORTER_H

#include "ImportTable.h"
#include "ModelNames.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace smp {

/// Where the model has a node: its module, and the line if it is known.
std::string placeOf(const pt2::Node &node);

/// Collects what cannot be imported, to be reported at once.
class Refusals {
public:
  void add(const pt2::Node &node, const std::string &reason);
  void add(const std::string &what, const std::string &reason);
  bool empty() const { return entries.empty(); }
  /// The lines of the message, one for each operator and reason.
  std::string str() const;

private:
  struct Entry {
    int64_t count = 0;
    std::string first;
  };
  std::map<std::pair<std::string, std::string>, Entry> entries;
};

/// Gives every model op that is built the path of its module.
struct ScopeListener : mlir::OpBuilder::Listener {
  std::string scope;
  void notifyOperationInserted(mlir::Operation *op,
                               mlir::OpBuilder::InsertPoint) override {
    if (auto model = mlir::dyn_cast<ModelOpInterface>(op))
      model.setScope(scope);
  }
};

class GraphImporter {
public:
  GraphImporter(const pt2::Pt2Archive &archive, const ModelNames &names,
                const std::string &graphName, const pt2::ExportedGraph &graph,
                int64_t fixedBatch, Refusals &refusals)
      : archive(archive), names(names), graphName(graphName), graph(graph),
        refusals(refusals) {
    state.graph = &graph;
    state.fixedBatch = fixedBatch;
  }

  /// Adds the function to the module.
  void run(mlir::ModuleOp module, llvm::StringRef functionName);

private:
  void addFunction(mlir::ModuleOp module, llvm::StringRef functionName);
  void addArguments();
  void importNode(const pt2::Node &node);
  llvm::LogicalResult applyRule(const pt2::Node &node, NodeImporter &importer);
  void addReturn();
  /// What a buffer becomes is a result of training, under the buffer's name;
  /// evaluation leaves buffers as they are.
  bool isReturned(const pt2::GraphOutput &output) const {
    return output.mutates.empty() || graphName == "model";
  }

  /// The value of a parameter or state that the node uses.
  void bindInput(const std::string &value, const std::string &scope,
                 mlir::Location loc);
  mlir::Value getParameter(const pt2::GraphInput &input,
                           const std::string &scope, mlir::Location loc);
  mlir::Value getStored(const pt2::GraphInput &input, mlir::Location loc);
  mlir::Location locationOf(const pt2::Node &node);
  mlir::RankedTensorType typeOf(const std::string &value);

  const pt2::Pt2Archive &archive;
  const ModelNames &names;
  const std::string &graphName;
  const pt2::ExportedGraph &graph;
  Refusals &refusals;

  mlir::func::FuncOp function;
  ScopeListener listener;
  mlir::OpBuilder builder{static_cast<mlir::MLIRContext *>(nullptr)};
  GraphState state;
  std::map<std::string, const pt2::GraphInput *> bound;
  /// Parameters by alias and states by name, read once each.
  std::map<std::string, mlir::Value> reads;
};

/// The elements of a constant or buffer as an attribute; null and a refusal
/// when it has none.
mlir::DenseElementsAttr elementsOf(const pt2::Pt2Archive &archive,
                                   const std::string &name,
                                   mlir::RankedTensorType type,
                                   Refusals &refusals);

} // namespace smp

#endif // SMP_LIB_IMPORT_GRAPHIMPORTER_H
