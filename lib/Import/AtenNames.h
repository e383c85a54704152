//===- AtenNames.h - Names of ATen operators --------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_IMPORT_ATENNAMES_H
#define SMP_LIB_IMPORT_ATENNAMES_H

#include <string_view>

namespace smp::pt2 {

/// "aten.add_.Tensor" in its parts: both are empty for what is not ATen's.
struct AtenName {
  explicit AtenName(std::string_view target) {
    constexpr std::string_view kPrefix = "aten.";
    if (!target.starts_with(kPrefix))
      return;
    target.remove_prefix(kPrefix.size());
    size_t dot = target.find('.');
    name = target.substr(0, dot);
    if (dot != target.npos)
      overload = target.substr(dot + 1);
  }

  std::string_view name;     ///< "add_"
  std::string_view overload; ///< "Tensor"
};

} // namespace smp::pt2

#endif // SMP_LIB_IMPORT_ATENNAMES_H
