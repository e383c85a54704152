//===- Result.h - A value or a user-facing error ----------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one error type of everything that does not include LLVM: the algorithms
// and the runtime. No exceptions are used; a function that can fail returns
// `Result<T>` (or `Status` where there is no value). The message follows the
// grammar of all diagnostics: lower case, no full stop, names quoted,
// `expects <what>, got <value>`.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_SUPPORT_RESULT_H
#define SMP_SUPPORT_RESULT_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace smp {

/// An error for the user: one sentence, and optionally a note with the repair.
struct Error {
  std::string message;
  std::string note = {};

  /// "message" or "message\n  note: note".
  std::string str() const {
    return note.empty() ? message : message + "\n  note: " + note;
  }
};

/// A value of type `T` or an `Error`.
template <typename T>
class [[nodiscard]] Result {
public:
  Result(T value) : storage(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : storage(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return storage.index() == 0; }
  T &operator*() { return *std::get_if<0>(&storage); }
  const T &operator*() const { return *std::get_if<0>(&storage); }
  T *operator->() { return std::get_if<0>(&storage); }
  const T *operator->() const { return std::get_if<0>(&storage); }
  const Error &error() const { return *std::get_if<1>(&storage); }

private:
  std::variant<T, Error> storage;
};

/// Success, or an `Error`.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Error error) : failure(std::move(error)) {}

  explicit operator bool() const { return !failure; }
  const Error &error() const { return *failure; }

private:
  std::optional<Error> failure;
};

} // namespace smp

/// Returns the error of `expression` (a `Status` or `Result`) to the caller.
#define SMP_RETURN_IF_ERROR(expression)                                        \
  do {                                                                         \
    if (auto smpStatus = (expression); !smpStatus)                             \
      return smpStatus.error();                                                \
  } while (false)

/// Declares `declaration` as the value of `expression`, or returns its error.
#define SMP_ASSIGN_OR_RETURN(declaration, expression)                          \
  SMP_ASSIGN_OR_RETURN_IMPL(SMP_CONCAT(smpResult, __LINE__), declaration,      \
                            expression)
#define SMP_CONCAT_IMPL(a, b) a##b
#define SMP_CONCAT(a, b) SMP_CONCAT_IMPL(a, b)
#define SMP_ASSIGN_OR_RETURN_IMPL(temporary, declaration, expression)          \
  auto temporary = (expression);                                               \
  if (!temporary)                                                              \
    return temporary.error();                                                  \
  declaration = std::move(*temporary)

#endif // SMP_SUPPORT_RESULT_H
