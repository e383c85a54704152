//===- NodeImporter.h - One node and its import -----------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a rule of the import table works on: the node's arguments by their
// names in the ATen schema, with the schema's default where one was left out,
// and the builder for its ops. A rule that cannot import a node refuses it
// with a reason; the importer collects these and reports all at once.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_IMPORT_NODEIMPORTER_H
#define SMP_LIB_IMPORT_NODEIMPORTER_H

#include "TensorBuilder.h"
#include "smp/Import/ExportedGraph.h"
#include "llvm/ADT/Twine.h"

namespace smp {

/// What the nodes of a graph share.
struct GraphState {
  const pt2::ExportedGraph *graph = nullptr;
  std::map<std::string, Tensor, std::less<>> tensors;
  SizeValues sizes;
  std::string batchSymbol;
  /// Rows of every batch where the graph fixes them, else 0.
  int64_t fixedBatch = 0;
  int64_t sites = 0;
  int64_t terms = 0;
};

class NodeImporter : public TensorBuilder {
public:
  NodeImporter(const pt2::Node &node, GraphState &state,
               mlir::OpBuilder &builder, mlir::Location loc)
      : TensorBuilder(builder, loc, state.sizes), node(node), state(state) {}

  const pt2::Node &node;
  GraphState &state;

  // Arguments.
  bool isGiven(llvm::StringRef name) const;
  /// A tensor that the schema requires; the table has checked that it is there.
  Tensor tensor(llvm::StringRef name);
  /// Null if left out or None.
  Tensor optionalTensor(llvm::StringRef name);
  /// All of a list; null tensors for None.
  std::vector<Tensor> tensors(llvm::StringRef name);
  /// A number; a bool counts as 0 or 1.
  double number(llvm::StringRef name, double fallback);
  int64_t integer(llvm::StringRef name, int64_t fallback);
  std::vector<int64_t> integers(llvm::StringRef name);
  /// A size that the batch decides.
  std::optional<pt2::SizeExpr> symbolicSize(llvm::StringRef name) const;
  bool flag(llvm::StringRef name, bool fallback);
  std::string text(llvm::StringRef name, llvm::StringRef fallback);
  std::optional<mlir::Type> type(llvm::StringRef name);
  /// A dim of a tensor of this rank, counted from the front.
  int64_t dim(llvm::StringRef name, int64_t fallback, int64_t rank);
  /// Sorted dims; all of them when none are given.
  llvm::SmallVector<int64_t> dims(llvm::StringRef name, int64_t rank);
  int64_t checkedDim(int64_t dim, int64_t rank);

  // Results.
  const Shape &resultShape(unsigned index = 0);
  mlir::Type resultElement(unsigned index = 0);
  /// Sets a result; refuses one that is not what the graph says.
  llvm::LogicalResult give(Tensor tensor, unsigned index = 0);
  bool isUsed(unsigned index) const;

  /// Says why the node cannot be imported; the first reason stays.
  llvm::LogicalResult refuse(const llvm::Twine &reason);
  bool refused() const { return !failure.empty(); }

private:
  void note(const llvm::Twine &reason);
  const pt2::Argument *find(llvm::StringRef name) const;
  Tensor lookup(const std::string &name) const;
  const pt2::TensorMeta *meta(unsigned index) const;
};

/// The rows of a dim that one sample has; none if that dim has no batch. Where
/// the batch is fixed, a dim that is a multiple of it is taken to have it.
std::optional<int64_t> batchRows(NodeImporter &n, const Tensor &tensor,
                                 int64_t dim = 0);
/// The first dim that has the batch.
std::optional<int64_t> batchDim(NodeImporter &n, const Tensor &tensor);
/// The rows of dim 0 that one sample has; all of a tensor without batch, which
/// belongs to the first sample of a microbatch.
int64_t rowsPerSample(NodeImporter &n, const Tensor &tensor);

} // namespace smp

#endif // SMP_LIB_IMPORT_NODEIMPORTER_H
