//===- Dataset.cpp - Samples of a training or evaluation file -------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Data/Dataset.h"
#include "smp/Support/Hash.h"
#include <algorithm>
#include <sys/stat.h>

using namespace smp;
using namespace smp::runtime;

Result<InputRole> runtime::parseInputRole(std::string_view name) {
  if (name == "input")
    return InputRole::Input;
  if (name == "label")
    return InputRole::Label;
  if (name == "row_weight")
    return InputRole::RowWeight;
  return Error{"expects input role 'input', 'label' or 'row_weight', got '" +
               std::string(name) + "'"};
}

Result<TokenConvention> runtime::parseTokenConvention(std::string_view name) {
  if (name == "hf")
    return TokenConvention::Hf;
  if (name == "next-token")
    return TokenConvention::NextToken;
  return Error{"expects token convention 'hf' or 'next-token', got '" +
               std::string(name) + "'"};
}

uint64_t Dataset::fingerprint() const {
  constexpr size_t pieces = 64, length = 4096;
  std::span<const std::byte> file = bytesOfFile();
  uint64_t hash = file.size();
  size_t last = file.size() - std::min(length, file.size());
  for (size_t i = 0; i < pieces; ++i) {
    std::span piece = file.subspan(last / (pieces - 1) * i);
    if (i == pieces - 1)
      piece = file.subspan(last);
    hash =
        splitmix64(hash ^ xxh64(piece.data(), std::min(length, piece.size())));
  }
  return hash;
}

void Dataset::watchFile(const std::string &file) {
  struct stat status;
  if (stat(file.c_str(), &status) != 0)
    return;
  path = file;
  device = status.st_dev;
  inode = status.st_ino;
  bytes = status.st_size;
}

Status Dataset::checkFile() const {
  struct stat status;
  // One that was removed or replaced stays as it was for who has it open.
  if (path.empty() || stat(path.c_str(), &status) != 0 ||
      status.st_dev != device || status.st_ino != inode ||
      status.st_size >= bytes)
    return {};
  return Error{"'" + path + "' expects to keep its " + std::to_string(bytes) +
                   " bytes while it is in use, got " +
                   std::to_string(status.st_size),
               "restore the file; --resume continues from the last checkpoint"};
}

Status Dataset::read(const InputSpec &input, std::span<const Sample> samples,
                     void *rows) const {
  SMP_RETURN_IF_ERROR(checkFile());
  SMP_ASSIGN_OR_RETURN(int64_t elements,
                       elementCount(input.rowShape, input.type));
  int64_t rowBytes = elements * byteWidth(input.type);
  auto *row = static_cast<std::byte *>(rows);
  for (const Sample &sample : samples) {
    if (input.role == InputRole::RowWeight) {
      float weight = sample.padding ? 0.0f : 1.0f;
      for (int64_t i = 0; i < elements; ++i)
        convertElements(DataType::F32, &weight, input.type,
                        row + i * byteWidth(input.type), 1);
    } else if (sample.index < 0 || sample.index >= size()) {
      return Error{"expects a sample from 0 and below " +
                   std::to_string(size()) + ", got " +
                   std::to_string(sample.index)};
    } else {
      SMP_RETURN_IF_ERROR(readRow(input, sample, row));
    }
    row += rowBytes;
  }
  return {};
}
