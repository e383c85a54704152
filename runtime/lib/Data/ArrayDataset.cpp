//===- ArrayDataset.cpp - Rows of named arrays ----------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Support/Safetensors.h"
#include "smp/runtime/Data/Dataset.h"
#include <algorithm>

using namespace smp;
using namespace smp::runtime;

namespace {
class ArrayDataset : public Dataset {
public:
  ArrayDataset(SafetensorsFile file, int64_t rows)
      : file(std::move(file)), rows(rows) {}
  int64_t size() const override { return rows; }

protected:
  std::span<const std::byte> bytesOfFile() const override {
    return file.bytes();
  }
  Status readRow(const InputSpec &input, Sample sample,
                 std::byte *row) const override {
    const TensorView *array = file.find(input.name);
    if (!array)
      return Error{"'" + file.path() + "' expects an array '" + input.name +
                   "', got none"};
    int64_t elements = array->elements() / rows;
    convertElements(array->type,
                    array->data.data() +
                        sample.index * elements * byteWidth(array->type),
                    input.type, row, elements);
    return {};
  }

private:
  SafetensorsFile file;
  int64_t rows;
};
} // namespace

static bool isFloating(DataType type) {
  return type == DataType::F64 || type == DataType::F32 ||
         type == DataType::BF16 || type == DataType::F16;
}

/// Checks the array of one input; gives its number of rows.
static Result<int64_t> checkArray(const SafetensorsFile &file,
                                  const InputSpec &input) {
  const TensorView *array = file.find(input.name);
  if (!array) {
    std::string known;
    for (const TensorView &view : file.tensors())
      known += (known.empty() ? "'" : ", '") + view.name + "'";
    return Error{"'" + file.path() + "' expects an array '" + input.name +
                     "', got none",
                 known.empty() ? "the file is empty" : "it has " + known};
  }
  bool sameRows = !array->shape.empty() &&
                  std::equal(array->shape.begin() + 1, array->shape.end(),
                             input.rowShape.begin(), input.rowShape.end());
  if (!sameRows)
    return Error{"'" + file.path() + "': '" + input.name +
                 "' expects rows of shape " + shapeString(input.rowShape) +
                 ", got an array of shape " + shapeString(array->shape)};
  if (isFloating(array->type) != isFloating(input.type))
    return Error{"'" + file.path() + "': '" + input.name + "' expects " +
                 std::string(dataTypeName(input.type)) + ", got " +
                 std::string(dataTypeName(array->type))};
  return array->shape[0];
}

/// An error at the first integer beyond the input's limit.
static Status checkIntegers(const SafetensorsFile &file,
                            const InputSpec &input) {
  const TensorView &array = *file.find(input.name);
  int width = byteWidth(array.type);
  bool isLabel = input.role == InputRole::Label, anyCounts = false;
  std::string ignoredText = std::to_string(input.ignored);
  for (int64_t i = 0, count = array.elements(); i < count; ++i) {
    int64_t value = 0;
    convertElements(array.type, array.data.data() + i * width, DataType::I64,
                    &value, 1);
    bool ignored = isLabel && value == input.ignored;
    anyCounts |= !ignored;
    if (!ignored && (value < 0 || value >= input.below))
      return Error{"'" + file.path() + "': '" + input.name +
                   "' expects integers from 0 to " +
                   std::to_string(input.below - 1) +
                   (isLabel ? " or " + ignoredText : "") + ", got " +
                   std::to_string(value) + " at position " + std::to_string(i)};
  }
  if (isLabel && !anyCounts && array.elements() > 0)
    return Error{"'" + file.path() + "': '" + input.name +
                     "' expects at least one label that counts, got only " +
                     ignoredText,
                 ignoredText + " marks what no loss counts"};
  return {};
}

Result<std::unique_ptr<Dataset>>
runtime::openArrays(const std::string &path,
                    std::span<const InputSpec> inputs) {
  auto opened = SafetensorsFile::open(path);
  if (!opened && !path.ends_with(".safetensors"))
    return Error{opened.error().message,
                 "this model reads arrays named as its inputs from a "
                 "safetensors file"};
  SMP_ASSIGN_OR_RETURN(SafetensorsFile file, std::move(opened));
  int64_t rows = -1;
  std::string first;
  for (const InputSpec &input : inputs) {
    if (input.role == InputRole::RowWeight)
      continue;
    SMP_ASSIGN_OR_RETURN(int64_t own, checkArray(file, input));
    if (rows >= 0 && own != rows)
      return Error{"'" + path + "' expects as many rows of '" + input.name +
                   "' as of '" + first + "', " + std::to_string(rows) +
                   ", got " + std::to_string(own)};
    if (input.below > 0 && !isFloating(input.type))
      SMP_RETURN_IF_ERROR(checkIntegers(file, input));
    rows = own;
    first = first.empty() ? input.name : first;
  }
  if (rows < 1)
    return Error{"'" + path + "' expects at least 1 sample, got " +
                 std::to_string(std::max<int64_t>(rows, 0))};
  auto data = std::make_unique<ArrayDataset>(std::move(file), rows);
  data->watchFile(path);
  return std::unique_ptr<Dataset>(std::move(data));
}
