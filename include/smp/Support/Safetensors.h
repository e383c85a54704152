//===- Safetensors.h - Files of named tensors -------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reader and writer of the safetensors format: an 8-byte little-endian header
// size, a JSON header, then the raw tensors. Files are mapped, so a reader
// touches only the pages it asks for. A header is checked completely before
// anything is handed out; a damaged file gives an error, never a bad view.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_SUPPORT_SAFETENSORS_H
#define SMP_SUPPORT_SAFETENSORS_H

#include "smp/Support/DataType.h"
#include "smp/Support/MappedFile.h"
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace smp {

/// A tensor somewhere in memory: in a mapped file, or about to be written.
struct TensorView {
  std::string name;
  DataType type = DataType::F32;
  std::vector<int64_t> shape = {};
  std::span<const std::byte> data = {};

  int64_t elements() const {
    return static_cast<int64_t>(data.size()) / byteWidth(type);
  }
  /// The elements converted to another type.
  std::vector<double> toF64() const;
  std::vector<float> toF32() const;
  std::vector<int64_t> toI64() const;
};

using SafetensorsMetadata = std::map<std::string, std::string>;

class SafetensorsFile {
public:
  static Result<SafetensorsFile> open(const std::string &path);

  const std::string &path() const { return file.path(); }
  std::span<const std::byte> bytes() const { return file.bytes(); }
  /// By ascending offset. Views are valid as long as this object lives.
  const std::vector<TensorView> &tensors() const { return views; }
  const TensorView *find(std::string_view name) const;
  const SafetensorsMetadata &metadata() const { return meta; }
  /// Where `view`'s bytes begin in the file.
  int64_t fileOffset(const TensorView &view) const {
    return view.data.data() - file.bytes().data();
  }

private:
  MappedFile file;
  std::vector<TensorView> views;
  std::map<std::string, size_t, std::less<>> index;
  SafetensorsMetadata meta;
};

/// Bytes of the file's head (size and header, padded to 8); the tensors follow
/// in the order given. The same input gives the same bytes.
std::string safetensorsHeader(const std::vector<TensorView> &tensors,
                              const SafetensorsMetadata &metadata);

/// Writes a file; `sync` makes it durable before returning.
Status writeSafetensors(const std::string &path,
                        const std::vector<TensorView> &tensors,
                        const SafetensorsMetadata &metadata = {},
                        bool sync = false);

} // namespace smp

#endif // SMP_SUPPORT_SAFETENSORS_H
