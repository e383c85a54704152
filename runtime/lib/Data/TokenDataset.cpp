//===- TokenDataset.cpp - Windows of a token file -------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Support/MappedFile.h"
#include "smp/Support/Philox.h"
#include "smp/runtime/Data/Dataset.h"
#include <algorithm>
#include <cstring>

using namespace smp;
using namespace smp::runtime;

namespace {
class TokenDataset : public Dataset {
public:
  TokenDataset(MappedFile file, const TokenOptions &options, int width)
      : file(std::move(file)), options(options), width(width) {
    tokens = static_cast<int64_t>(this->file.bytes().size()) / width;
    int64_t usable = tokens - lookAhead();
    windows = usable < 0 ? 0 : usable / options.sequenceLength;
    slack = windows ? usable - windows * options.sequenceLength : 0;
  }

  int64_t size() const override { return windows; }
  int64_t tokenCount() const { return tokens; }
  int64_t lookAhead() const {
    return options.convention == TokenConvention::NextToken ? 1 : 0;
  }
  /// An error at the first token that the vocabulary does not have.
  Status checkVocabulary(int64_t begin, int64_t end) const;

protected:
  std::span<const std::byte> bytesOfFile() const override {
    return file.bytes();
  }
  Status readRow(const InputSpec &input, Sample sample,
                 std::byte *row) const override;

private:
  uint32_t token(int64_t index) const {
    const std::byte *at = file.bytes().data() + index * width;
    uint32_t value = 0; // little-endian, as this machine
    std::memcpy(&value, at, width);
    return value;
  }

  /// Where an epoch's windows begin: they fall differently each time, as far
  /// as the remainder of the file allows.
  int64_t shift(int64_t epoch) const {
    if (epoch < 0)
      return 0;
    uint64_t mixed =
        splitmix64(options.seed ^ splitmix64(static_cast<uint64_t>(epoch)));
    return static_cast<int64_t>(mixed % static_cast<uint64_t>(slack + 1));
  }

  MappedFile file;
  TokenOptions options;
  int width;
  int64_t tokens = 0, windows = 0, slack = 0;
};
} // namespace

Status TokenDataset::checkVocabulary(int64_t begin, int64_t end) const {
  int64_t limit = options.vocabulary;
  if (limit == 0 || limit >= int64_t{1} << (8 * width))
    return {};
  for (int64_t i = begin; i < end; ++i)
    if (token(i) >= limit)
      return Error{
          "'" + file.path() + "' expects tokens below the vocabulary " +
              std::to_string(limit) + ", got " + std::to_string(token(i)) +
              " at position " + std::to_string(i),
          "was the file written by another tokenizer, or as another "
          "width than " +
              std::to_string(8 * width) + " bits?"};
  return {};
}

Status TokenDataset::readRow(const InputSpec &input, Sample sample,
                             std::byte *row) const {
  int64_t length = options.sequenceLength;
  if (input.rowShape.size() != 1 || input.rowShape[0] != length)
    return Error{"'" + input.name + "' expects rows of " +
                 std::to_string(length) + " tokens, got shape " +
                 shapeString(input.rowShape)};
  int64_t begin = shift(sample.epoch) + sample.index * length;
  if (input.role == InputRole::Label)
    begin += lookAhead();
  SMP_RETURN_IF_ERROR(checkVocabulary(begin, begin + length));
  for (int64_t i = 0; i < length; ++i) {
    int64_t value = token(begin + i);
    convertElements(DataType::I64, &value, input.type,
                    row + i * byteWidth(input.type), 1);
  }
  return {};
}

/// Up to here the whole file is checked when it is opened; a longer one as it
/// is read.
static constexpr int64_t tokensCheckedAhead = int64_t{1} << 26;

/// From the file's name where it is not said. A name that does not tell stands
/// for bytes, unless the vocabulary needs more: such a file read as bytes would
/// pass every check and train on nonsense.
static Result<int> tokenWidth(const std::string &path,
                              const TokenOptions &options) {
  int width = options.width;
  if (width == 0)
    width = path.ends_with(".u32")                               ? 4
            : path.ends_with(".u16")                             ? 2
            : path.ends_with(".u8") || options.vocabulary <= 256 ? 1
                                                                 : 0;
  if (width == 0)
    return Error{"'" + path + "' expects a name that tells the width of its " +
                     "tokens, as the vocabulary of " +
                     std::to_string(options.vocabulary) +
                     " exceeds bytes, got none",
                 "name it '.u16' or '.u32' (little-endian), or '.u8' if its "
                 "tokens are bytes"};
  if (width != 1 && width != 2 && width != 4)
    return Error{"expects tokens of 1, 2 or 4 bytes, got " +
                 std::to_string(width)};
  return width;
}

Result<std::unique_ptr<Dataset>>
runtime::openTokens(const std::string &path, const TokenOptions &options) {
  if (options.sequenceLength < 1)
    return Error{"expects a sequence length of at least 1, got " +
                 std::to_string(options.sequenceLength)};
  SMP_ASSIGN_OR_RETURN(int width, tokenWidth(path, options));
  SMP_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path));
  if (file.bytes().size() % width)
    return Error{"'" + path + "' expects whole tokens of " +
                 std::to_string(width) + " bytes, got " +
                 std::to_string(file.bytes().size()) + " bytes"};
  auto data = std::make_unique<TokenDataset>(std::move(file), options, width);
  if (data->size() == 0)
    return Error{
        "'" + path + "' expects at least " +
            std::to_string(options.sequenceLength + data->lookAhead()) +
            " tokens, one sequence of " +
            std::to_string(options.sequenceLength) +
            (data->lookAhead() ? " and the token after it" : "") + ", got " +
            std::to_string(data->tokenCount()),
        "use more data or a shorter 'sequence_length'"};
  SMP_RETURN_IF_ERROR(data->checkVocabulary(
      0, std::min(data->tokenCount(), tokensCheckedAhead)));
  data->watchFile(path);
  return std::unique_ptr<Dataset>(std::move(data));
}
