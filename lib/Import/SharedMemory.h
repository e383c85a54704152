//===- SharedMemory.h - Tensors that are one memory -------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which tensors of a raw graph share memory, and the value that each has after
// the mutations so far. A tensor is the root of its memory or a view of another
// tensor. A mutation is written back from view to base up to the root, and
// counts the memory's version; a view of an older version is made again from
// its base when it is read.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_IMPORT_SHAREDMEMORY_H
#define SMP_LIB_IMPORT_SHAREDMEMORY_H

#include "smp/Import/ExportedGraph.h"
#include <functional>

namespace smp::pt2 {

/// Memory that several tensors may share.
struct Storage {
  /// Counts its mutations.
  size_t version = 0;
  /// Storages of one group may be one: PyTorch does not say.
  size_t group = 0;
  /// Why its tensors can no longer be read, or empty.
  std::string lost;
  /// It was made where no gradients are recorded.
  bool gradientFree = false;
  /// The input of the graph that it belongs to, or null.
  const GraphInput *input = nullptr;
};

/// How a view was made: the node with the values of its arguments.
struct ViewOf {
  Node node;
  std::string base;
};

/// A tensor of the raw graph.
struct SharedTensor {
  /// Its newest value, and the version of its storage that this shows.
  std::string value;
  size_t version = 0;
  size_t storage = 0;
  /// The view that it is, and which result of it; null for a root.
  std::shared_ptr<const ViewOf> view;
  size_t result = 0;
};

class SharedMemory {
public:
  /// Nodes that make or write back views go to `emit`.
  SharedMemory(TensorMetas &metas, std::function<void(Node)> emit)
      : metas(metas), emit(std::move(emit)) {}

  void addRoot(const std::string &name, Storage storage);
  /// The results of a node, which is also given with the values that it reads.
  void addResults(const Node &raw, const Node &functional);
  /// `result` is `name` itself, as what a mutation returns.
  void addAlias(const std::string &result, const std::string &name);

  SharedTensor &tensor(const std::string &name);
  Storage &storageOf(const std::string &name) {
    return storages[tensor(name).storage];
  }
  const TensorMeta &metaOf(const std::string &name) const;
  /// The name without the aliases.
  std::string own(const std::string &name) const;
  /// A name for a new value of a tensor, of its type or another.
  std::string fresh(const std::string &name);
  std::string fresh(const std::string &name, std::optional<DataType> type);

  /// The newest value. Sets `problem` if it cannot be known.
  std::string read(const std::string &name);
  void readArguments(Node &node);
  /// Sets the value of a tensor and of all that it shares memory with; `cause`
  /// is the node that does so. Sets `problem` if that cannot be done.
  void write(const std::string &name, const std::string &value,
             const Node &cause);

  /// Why the last reads and writes cannot be right: the first reason.
  std::string problem;

private:
  void joinGroups(const std::vector<std::string> &names);
  void remake(const SharedTensor &tensor);
  bool writeToBase(const SharedTensor &tensor, const std::string &value,
                   const Node &cause);
  void setValue(const std::string &name, const std::string &value,
                const Node &cause);

  TensorMetas &metas;
  std::function<void(Node)> emit;
  std::map<std::string, SharedTensor, std::less<>> tensors;
  std::map<std::string, std::string, std::less<>> aliases;
  std::vector<Storage> storages;
  size_t count = 0;
};

} // namespace smp::pt2

#endif // SMP_LIB_IMPORT_SHAREDMEMORY_H
