//===- DataType.h - Element types of tensors --------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_SUPPORT_DATATYPE_H
#define SMP_SUPPORT_DATATYPE_H

#include "smp/Support/Result.h"
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace smp {

/// The element types that files and jobs may hold.
enum class DataType : uint8_t { F64, F32, BF16, F16, I64, I32, U8, Bool };

/// Bytes of one element.
int64_t byteWidth(DataType type);

/// Name in job files and diagnostics: "f32", "bf16", "i64", "bool", ...
std::string_view dataTypeName(DataType type);
Result<DataType> parseDataType(std::string_view name);

/// Name in safetensors headers: "F32", "BF16", "I64", "BOOL", ...
std::string_view safetensorsName(DataType type);
Result<DataType> parseSafetensorsName(std::string_view name);

/// Elements of a shape; an error if a dimension is negative or the number of
/// bytes does not fit 63 bits.
Result<int64_t> elementCount(std::span<const int64_t> shape, DataType type);

/// Converts `count` elements. Floating to floating rounds to nearest even;
/// between integers and floats as static_cast does; to bool is `!= 0`.
void convertElements(DataType from, const void *source, DataType to,
                     void *target, int64_t count);

/// "[2, 3]".
std::string shapeString(std::span<const int64_t> shape);

} // namespace smp

#endif // SMP_SUPPORT_DATATYPE_H
