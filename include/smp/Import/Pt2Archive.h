//===- Pt2Archive.h - A .pt2 file -------------------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Opens an archive of torch.export: graphs, description, and where each
// tensor's bytes lie in the mapped file. Raw graphs are brought into the form
// of decomposed ones: regions are inlined, and nothing changes in place.
// Weights are not copied: a record is a whole storage, of which a tensor is a
// strided part.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IMPORT_PT2ARCHIVE_H
#define SMP_IMPORT_PT2ARCHIVE_H

#include "smp/Import/Description.h"
#include "smp/Import/ExportedGraph.h"
#include "smp/Import/ZipArchive.h"

namespace smp::pt2 {

/// A parameter, buffer or constant: a strided part of a storage.
struct StoredTensor {
  DataType type = DataType::F32;
  std::vector<int64_t> shape, strides;
  int64_t offset = 0; ///< elements
  /// Member that holds the storage; it is empty when values were left out.
  std::string member;
  bool hasData = false;
  bool trainable = true; ///< of a parameter

  bool isContiguous() const;
};

using StoredTensors = std::map<std::string, StoredTensor, std::less<>>;

class Pt2Archive {
public:
  static Result<Pt2Archive> open(const std::string &path);

  const std::string &path() const { return zip.path(); }
  const ExportedGraph &train() const { return graphs.find("model")->second; }
  /// The graph in evaluation mode; null if there is none.
  const ExportedGraph *eval() const {
    auto found = graphs.find("eval");
    return found == graphs.end() ? nullptr : &found->second;
  }
  /// Null for what torch.export.save wrote.
  const Description *description() const { return about ? &*about : nullptr; }

  /// Parameters and persistent buffers; other buffers and constants.
  const StoredTensors &weights() const { return stored; }
  const StoredTensors &constants() const { return fixed; }

  /// The elements in row-major order, copied.
  Result<std::vector<std::byte>> elements(const StoredTensor &tensor) const;
  /// The elements of a contiguous tensor, in the mapped file.
  Result<std::span<const std::byte>> view(const StoredTensor &tensor) const;

private:
  Status findFolder();
  Status readGraph(const std::string &name);
  Status readTensors(const std::string &config, const std::string &folder,
                     StoredTensors &into);

  ZipArchive zip;
  /// The top folder, ending in a slash.
  std::string folder;
  std::map<std::string, ExportedGraph> graphs;
  std::optional<Description> about;
  StoredTensors stored, fixed;
};

/// Writes the parameters and persistent buffers that have values, under their
/// names; of tied ones only the canonical name. The number of tensors written.
Result<size_t> writeWeights(const Pt2Archive &archive, const std::string &path);

} // namespace smp::pt2

#endif // SMP_IMPORT_PT2ARCHIVE_H
