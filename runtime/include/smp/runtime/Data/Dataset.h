//===- Dataset.h - Samples of a training or evaluation file -----*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A data set is a sequence of samples; a sample fills one row of every input.
// Which sample stands at which position of the training is a pure function of
// seed and position (`SampleOrder`), so a resumed run with other owners or
// microbatches neither repeats nor skips one.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_DATA_DATASET_H
#define SMP_RUNTIME_DATA_DATASET_H

#include "smp/Support/DataType.h"
#include "smp/Support/Result.h"
#include "smp/runtime/Data/SampleOrder.h"
#include <memory>
#include <string>
#include <vector>

namespace smp::runtime {

enum class InputRole { Input, Label, RowWeight };
Result<InputRole> parseInputRole(std::string_view name);

/// An input of the model: one row of it is `rowShape`.
struct InputSpec {
  std::string name;
  InputRole role = InputRole::Input;
  DataType type = DataType::I64;
  std::vector<int64_t> rowShape;
  /// Integers are at least 0 and below it; 0: any. Labels may also be the
  /// number that no loss counts.
  int64_t below = 0;
  int64_t ignored = -100;
};

/// How labels follow from tokens. Hf: the model shifts them itself, labels are
/// the tokens. NextToken: label i is token i + 1.
enum class TokenConvention { Hf, NextToken };
Result<TokenConvention> parseTokenConvention(std::string_view name);

class Dataset {
public:
  virtual ~Dataset() = default;
  virtual int64_t size() const = 0; ///< samples

  /// Tells files apart: a hash of 64 pieces of 4 KiB, from the first byte to
  /// the last, as whole files may be long.
  uint64_t fingerprint() const;

  /// Fills `samples.size()` rows of `input`, converting to its type. A row
  /// weight is 1, and 0 where the sample is padding.
  Status read(const InputSpec &input, std::span<const Sample> samples,
              void *rows) const;

  /// From now on `read` sees to it that the file keeps its size: what is cut
  /// off reads as zeros up to the end of a page, and ends the process after it.
  void watchFile(const std::string &path);

protected:
  virtual std::span<const std::byte> bytesOfFile() const = 0;
  virtual Status readRow(const InputSpec &input, Sample sample,
                         std::byte *row) const = 0;

private:
  Status checkFile() const;

  std::string path; ///< empty: not watched
  uint64_t device = 0, inode = 0;
  int64_t bytes = 0;
};

struct TokenOptions {
  int64_t sequenceLength = 0;
  int64_t vocabulary = 0; ///< tokens must be below it; 0: not checked
  TokenConvention convention = TokenConvention::Hf;
  /// Bytes of one token: 1, 2 or 4; 0: by the name (.u16, .u32, else bytes).
  int width = 0;
  /// Windows start at a place that depends on seed and epoch.
  uint64_t seed = 0;
};

/// Little-endian unsigned tokens; a sample is a window of sequenceLength
/// tokens (one more is read for next-token labels). Windows do not overlap.
Result<std::unique_ptr<Dataset>> openTokens(const std::string &path,
                                            const TokenOptions &options);

/// A safetensors file of named arrays whose rows are the samples. Every input
/// needs an array of its name, row shape and kind of type, its integers within
/// the input's limit.
Result<std::unique_ptr<Dataset>> openArrays(const std::string &path,
                                            std::span<const InputSpec> inputs);

} // namespace smp::runtime

#endif // SMP_RUNTIME_DATA_DATASET_H
