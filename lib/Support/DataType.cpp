//===- DataType.cpp - Element types of tensors ----------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Support/DataType.h"
#include <array>
#include <bit>
#include <cstring>

using namespace smp;

namespace {
struct TypeInfo {
  std::string_view name, safetensors;
  int64_t width;
};
} // namespace

static constexpr std::array<TypeInfo, 8> types = {{{"f64", "F64", 8},
                                                   {"f32", "F32", 4},
                                                   {"bf16", "BF16", 2},
                                                   {"f16", "F16", 2},
                                                   {"i64", "I64", 8},
                                                   {"i32", "I32", 4},
                                                   {"u8", "U8", 1},
                                                   {"bool", "BOOL", 1}}};

static const TypeInfo &info(DataType type) {
  return types[static_cast<size_t>(type)];
}

int64_t smp::byteWidth(DataType type) { return info(type).width; }
std::string_view smp::dataTypeName(DataType type) { return info(type).name; }
std::string_view smp::safetensorsName(DataType type) {
  return info(type).safetensors;
}

static Result<DataType> findType(std::string_view name,
                                 std::string_view TypeInfo::*field) {
  std::string known;
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i].*field == name)
      return static_cast<DataType>(i);
    known += (i ? ", " : "") + std::string(types[i].*field);
  }
  return Error{"expects an element type, got '" + std::string(name) + "'",
               "known types: " + known};
}

Result<DataType> smp::parseDataType(std::string_view name) {
  return findType(name, &TypeInfo::name);
}
Result<DataType> smp::parseSafetensorsName(std::string_view name) {
  return findType(name, &TypeInfo::safetensors);
}

std::string smp::shapeString(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

Result<int64_t> smp::elementCount(std::span<const int64_t> shape,
                                  DataType type) {
  // Checked in bytes, so that callers can multiply without fear.
  int64_t bytes = byteWidth(type);
  bool overflow = false;
  for (int64_t size : shape) {
    if (size < 0)
      return Error{"expects dimensions of at least 0, got shape " +
                   shapeString(shape)};
    overflow |= __builtin_mul_overflow(bytes, size, &bytes);
  }
  if (overflow)
    return Error{"expects a tensor of less than 2^63 bytes, got shape " +
                 shapeString(shape)};
  return bytes / byteWidth(type);
}

static float halfToFloat(uint16_t bits) {
  uint32_t sign = (bits & 0x8000u) << 16, exponent = (bits >> 10) & 31u;
  uint32_t mantissa = bits & 0x3FFu;
  if (exponent == 31)
    return std::bit_cast<float>(sign | 0x7F800000u | mantissa << 13);
  if (exponent == 0) { // subnormal: mantissa · 2^-24
    float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

/// Rounds `value` to `mantissaBits` explicit bits with the given exponent
/// range. From double in one step: rounding to f32 first would round twice.
static uint16_t doubleToNarrow(double value, int mantissaBits, int minExponent,
                               int maxExponent) {
  auto bits = std::bit_cast<uint64_t>(value);
  auto sign = static_cast<uint16_t>((bits >> 63) << 15);
  auto infinity =
      static_cast<uint16_t>((maxExponent - minExponent + 2) << mantissaBits);
  if (value != value)
    return sign | infinity | static_cast<uint16_t>(1u << (mantissaBits - 1));
  int exponent = static_cast<int>((bits >> 52) & 0x7FF) - 1023;
  if (exponent < minExponent)
    exponent = minExponent;
  // The value in units of the last place, rounded to nearest even.
  double scaled =
      __builtin_ldexp(value < 0 ? -value : value, mantissaBits - exponent);
  double rounded = __builtin_nearbyint(scaled);
  if (exponent > maxExponent)
    return sign | infinity;
  auto units = static_cast<uint64_t>(rounded);
  // A carry out of the mantissa moves into the exponent, up to infinity.
  uint64_t biased = static_cast<uint64_t>(exponent - minExponent)
                    << mantissaBits;
  return sign | static_cast<uint16_t>(biased + units);
}

static double loadDouble(DataType type, const std::byte *from) {
  auto load = [&]<typename T>(T value) {
    std::memcpy(&value, from, sizeof value);
    return value;
  };
  switch (type) {
  case DataType::F64:
    return load(double{});
  case DataType::F32:
    return load(float{});
  case DataType::BF16:
    return std::bit_cast<float>(uint32_t{load(uint16_t{})} << 16);
  case DataType::F16:
    return halfToFloat(load(uint16_t{}));
  case DataType::I64:
    return static_cast<double>(load(int64_t{}));
  case DataType::I32:
    return load(int32_t{});
  case DataType::U8:
  case DataType::Bool:
    return load(uint8_t{});
  }
  __builtin_unreachable();
}

static int64_t loadInteger(DataType type, const std::byte *from) {
  if (type != DataType::I64)
    return static_cast<int64_t>(loadDouble(type, from));
  int64_t value; // does not fit a double
  std::memcpy(&value, from, sizeof value);
  return value;
}

static void store(DataType type, double value, int64_t integer, std::byte *to) {
  auto put = [&](auto element) { std::memcpy(to, &element, sizeof element); };
  switch (type) {
  case DataType::F64:
    return put(value);
  case DataType::F32:
    return put(static_cast<float>(value));
  case DataType::BF16:
    return put(doubleToNarrow(value, 7, -126, 127));
  case DataType::F16:
    return put(doubleToNarrow(value, 10, -14, 15));
  case DataType::I64:
    return put(integer);
  case DataType::I32:
    return put(static_cast<int32_t>(integer));
  case DataType::U8:
    return put(static_cast<uint8_t>(integer));
  case DataType::Bool:
    return put(static_cast<uint8_t>(value != 0));
  }
}

static bool isInteger(DataType type) { return type >= DataType::I64; }

void smp::convertElements(DataType from, const void *source, DataType to,
                          void *target, int64_t count) {
  if (from == to) {
    if (count)
      std::memcpy(target, source, count * byteWidth(from));
    return;
  }
  const auto *in = static_cast<const std::byte *>(source);
  auto *out = static_cast<std::byte *>(target);
  for (int64_t i = 0; i < count; ++i) {
    const std::byte *element = in + i * byteWidth(from);
    store(to, loadDouble(from, element),
          isInteger(to) ? loadInteger(from, element) : 0,
          out + i * byteWidth(to));
  }
}
