//===- ByteCount.h - Amounts of memory for people ---------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_SUPPORT_BYTECOUNT_H
#define SMP_SUPPORT_BYTECOUNT_H

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>

namespace smp {

/// A number of bytes in the largest binary unit of which it has one:
/// "640 B", "1.5 KiB", "12.0 MiB", and from GiB on, of which a tenth is much,
/// "1.57 GiB".
inline std::string formatBytes(int64_t bytes) {
  if (bytes < 1024)
    return std::to_string(bytes) + " B";
  constexpr std::array units = {"KiB", "MiB", "GiB", "TiB"};
  double amount = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  // What rounds to 1024.0 has one of the next unit.
  while (amount >= 1023.95 && unit + 1 < units.size()) {
    amount /= 1024;
    ++unit;
  }
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), unit < 2 ? "%.1f %s" : "%.2f %s",
                amount, units[unit]);
  return text.data();
}

} // namespace smp

#endif // SMP_SUPPORT_BYTECOUNT_H
