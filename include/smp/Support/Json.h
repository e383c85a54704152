//===- Json.h - Reading JSON that others wrote ------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_SUPPORT_JSON_H
#define SMP_SUPPORT_JSON_H

#include "smp/Support/Result.h"
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace smp {

/// Parses `text`; errors name `what` ("configuration 'smp.json'") with line
/// and column. Nesting is limited, so that later recursion over the value is
/// safe whatever the input.
Result<nlohmann::json> parseJson(std::string_view text, std::string_view what);

/// The value as text for a diagnostic, shortened.
std::string shortText(const nlohmann::json &value);

} // namespace smp

#endif // SMP_SUPPORT_JSON_H
