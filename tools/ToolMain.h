//===- ToolMain.h - What the compiler's programs share ----------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_TOOLS_TOOLMAIN_H
#define SMP_TOOLS_TOOLMAIN_H

#include "smp/Support/Result.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <cstring>
#include <fstream>
#include <new>
#include <string>
#include <unistd.h>

namespace smp {

/// After InitLLVM: what ends a process anywhere (a stream that cannot be
/// written, no memory) is said as every error is, and ends with exit code 1.
/// The name is kept.
inline void installLastWords(const char *tool) {
  static const char *name = nullptr;
  name = tool;
  // No stream of LLVM here: the reason may be one of theirs.
  static constexpr auto endWith = [](const std::string &text) {
    std::string all = std::string(name) + ": error: " + text + "\n";
    [[maybe_unused]] ssize_t written =
        write(STDERR_FILENO, all.data(), all.size());
    _exit(1);
  };
  llvm::install_fatal_error_handler(
      [](void *, const char *reason, bool isCrash) {
        if (isCrash)
          return; // a mistake of ours, with its stack
        llvm::StringRef text = reason;
        if (text.consume_front("IO failure on output stream: "))
          endWith("cannot write the output: " + text.str());
        endWith(text.str());
      });
  static constexpr auto onNoMemory = [] {
    static const char *const text =
        ": error: expects more memory, got none from the system\n"
        "  note: a smaller model, batch or number of microbatches takes less\n";
    for (const char *part : {name, text})
      if (write(STDERR_FILENO, part, std::strlen(part)) < 0)
        break;
    _exit(1);
  };
  llvm::install_bad_alloc_error_handler(
      [](void *, const char *, bool) { onNoMemory(); });
  std::set_new_handler(onNoMemory);
  std::signal(SIGXFSZ, SIG_IGN); // the write fails, and that is said
}

/// What is no text would be shown by the parser, on the terminal.
inline Status checkModuleText(const std::string &path) {
  if (path == "-")
    return {};
  char begin[4096];
  std::ifstream file(path, std::ios::binary);
  file.read(begin, sizeof begin);
  // Nothing where it cannot be read: the parser says why.
  llvm::StringRef text(begin, file.gcount());
  if (text.starts_with("PK"))
    return Error{"expects a module at '" + path + "', got an archive",
                 "make a module of it: smp-import " + path + " -o model.mlir"};
  if (text.contains('\0'))
    return Error{"expects a model at '" + path + "', got binary data",
                 "a model is an archive (.pt2) or a module (.mlir); weights "
                 "and data have options of their own"};
  return {};
}

/// An error of a configuration, with the file that it came from.
inline Error nameConfig(Error error, const std::string &path) {
  constexpr llvm::StringLiteral anonymous = "the configuration expects";
  if (!path.empty() && llvm::StringRef(error.message).starts_with(anonymous))
    error.message =
        "'" + path + "' expects" + error.message.substr(anonymous.size());
  return error;
}

} // namespace smp

#endif // SMP_TOOLS_TOOLMAIN_H
