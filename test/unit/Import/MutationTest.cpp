//===- MutationTest.cpp - Damaged files get errors ------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whatever a file holds, it is read or refused with an error: no crash, no
// endless work, no memory without bound. SMP_TEST_EXHAUSTIVE=1 takes 20,000
// mutations and more; SMP_TEST_SEED=N only the one with this seed.
//
//===----------------------------------------------------------------------===//

#include "Mutator.h"
#include "ZipBuilder.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "smp/Import/Importer.h"
#include "smp/Pipelines/Phases.h"
#include "smp/Support/Safetensors.h"
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SMP_TEST_SANITIZED
#endif
#endif

using namespace smp;
using namespace smp::test;
using nlohmann::json;

/// Seconds that one file may take, and bytes of address space; sanitizers take
/// more of that than there is memory.
static constexpr unsigned kTimeLimit = 60;
[[maybe_unused]] static constexpr rlim_t kMemoryLimit = rlim_t(6) << 30;

/// What is being read, for those who must reproduce it.
static char currentCase[256] = "no case\n";

static void sayCase() {
  [[maybe_unused]] ssize_t written =
      write(STDERR_FILENO, currentCase, strlen(currentCase));
}

// The sanitizer calls it by this name.
extern "C" void __asan_on_error() { sayCase(); } // NOLINT

extern "C" {
static void stopOnSignal(int signal) {
  sayCase();
  std::signal(signal, SIG_DFL);
  raise(signal);
}
}

namespace {

struct ReadResult {
  bool read = false;
  std::string errors;
};

class Mutations : public testing::Test {
protected:
  static void SetUpTestSuite() {
    std::signal(SIGALRM, stopOnSignal);
#ifndef SMP_TEST_SANITIZED
    for (int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL})
      std::signal(signal, stopOnSignal);
    rlimit limit{kMemoryLimit, kMemoryLimit};
    setrlimit(RLIMIT_AS, &limit);
#endif
  }

  Mutations() {
    DialectRegistry registry;
    registerCompiler(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.disableMultithreading();
    context.getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
        errors += diagnostic.str() + "\n";
      return mlir::success();
    });
  }

  using DialectRegistry = mlir::DialectRegistry;

  static std::string model(const char *name) {
    return std::string(SMP_MODEL_DATA "/") + name;
  }

  /// Runs `attempt` with the seeds of this test: `count` of them, or
  /// `exhaustive`. It changes something by the seed and reads it.
  template <typename Attempt>
  void each(uint64_t count, uint64_t exhaustive, Attempt attempt) {
    const char *extent = getenv("SMP_TEST_EXHAUSTIVE");
    const char *only = getenv("SMP_TEST_SEED");
    if (extent && extent[0] == '1')
      count = exhaustive;
    uint64_t read = 0, refused = 0;
    uint64_t first = only ? strtoull(only, nullptr, 10) : 0;
    for (uint64_t seed = first; seed < (only ? first + 1 : count); ++seed) {
      snprintf(
          currentCase, sizeof(currentCase),
          "while reading: SMP_TEST_SEED=%llu --gtest_filter=Mutations.%s\n",
          static_cast<unsigned long long>(seed),
          testing::UnitTest::GetInstance()->current_test_info()->name());
      alarm(kTimeLimit);
      errors.clear();
      Mutator mutator(seed);
      bool succeeded = attempt(mutator);
      alarm(0);
      // Either it is read, or something says why not.
      EXPECT_EQ(succeeded, errors.empty()) << currentCase << errors;
      ++(succeeded ? read : refused);
    }
    if (!only) {
      // Damage is seen, and some of it does no harm.
      EXPECT_GT(refused, count / 10);
      EXPECT_GT(read, 0u);
      RecordProperty("read", static_cast<int>(read));
      RecordProperty("refused", static_cast<int>(refused));
    }
  }

  bool fail(const Error &error) {
    errors += error.str();
    return false;
  }

  bool readArchive(const std::string &content) {
    std::string path = fileOf(content);
    Result<pt2::Pt2Archive> archive = pt2::Pt2Archive::open(path);
    if (!archive)
      return fail(archive.error());
    if (!importArchive(&context, *archive))
      return false;
    Result<size_t> written = pt2::writeWeights(*archive, path + ".safetensors");
    return written ? true : fail(written.error());
  }

  /// What smp-compile does before it generates code.
  bool readModule(const std::string &text) {
    mlir::ParserConfig config(&context);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, config);
    if (!module)
      return false;
    CompileOptions options;
    options.stopAfter = Phase::Schedule;
    return succeeded(compile(*module, options));
  }

  std::string textOf(const char *name) {
    mlir::OwningOpRef<mlir::ModuleOp> module =
        importModel(&context, model(name));
    EXPECT_TRUE(module);
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream);
    return text;
  }

  static std::string contentOf(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::string errors;
};

/// The members of an archive, to be written again with one of them changed.
struct Members {
  explicit Members(const std::string &path) {
    Result<pt2::ZipArchive> zip = pt2::ZipArchive::open(path);
    for (const auto &[name, member] : zip->members())
      content[name].assign(reinterpret_cast<const char *>(member.data.data()),
                           member.data.size());
  }

  std::vector<std::string> ending(const std::string &suffix) const {
    std::vector<std::string> names;
    for (const auto &[name, text] : content)
      if (name.ends_with(suffix))
        names.push_back(name);
    return names;
  }

  std::string archive() const {
    ZipBuilder zip;
    for (const auto &[name, text] : content)
      zip.add(name, text);
    return zip.str();
  }

  std::map<std::string, std::string> content;
};

constexpr const char *kModels[] = {"mlp.pt2", "convnet.pt2", "resnet.pt2",
                                   "gpt2.pt2", "t5.pt2"};

TEST_F(Mutations, ofArchives) {
  std::vector<std::string> contents;
  for (const char *name : kModels)
    contents.push_back(contentOf(model(name)));
  each(300, 6000, [&](Mutator &mutator) {
    std::string content = contents[mutator.below(contents.size())];
    mutator.damageBytes(content);
    return readArchive(content);
  });
}

TEST_F(Mutations, ofGraphs) {
  std::vector<Members> archives;
  for (const char *name : kModels)
    archives.emplace_back(model(name));
  each(300, 6000, [&](Mutator &mutator) {
    Members members = archives[mutator.below(archives.size())];
    std::vector<std::string> names = members.ending(".json");
    std::string &text = members.content[names[mutator.below(names.size())]];
    json value = json::parse(text);
    mutator.damageJson(value);
    text = value.dump(-1, ' ', false, json::error_handler_t::replace);
    return readArchive(members.archive());
  });
}

TEST_F(Mutations, ofMembers) {
  Members original(model("convnet.pt2"));
  std::vector<std::string> names;
  for (const auto &[name, text] : original.content)
    names.push_back(name);
  each(300, 3000, [&](Mutator &mutator) {
    Members members = original;
    const std::string &name = names[mutator.below(names.size())];
    std::string content = std::move(members.content[name]);
    std::string changed = name;
    if (mutator.below(3) == 0)
      mutator.damageBytes(changed);
    else
      mutator.damageBytes(content);
    members.content.erase(name);
    members.content[changed] = std::move(content);
    return readArchive(members.archive());
  });
}

TEST_F(Mutations, ofSafetensors) {
  std::string original = contentOf(model("mlp.safetensors"));
  uint64_t length = 0;
  memcpy(&length, original.data(), sizeof(length));
  each(2000, 20000, [&](Mutator &mutator) {
    std::string content = original;
    if (mutator.below(2)) {
      json header = json::parse(content.substr(8, length));
      mutator.damageJson(header);
      std::string text =
          header.dump(-1, ' ', false, json::error_handler_t::replace);
      uint64_t size = text.size();
      content = std::string(reinterpret_cast<char *>(&size), 8) + text +
                content.substr(8 + length);
    } else {
      // Most of the file is numbers, in which every damage is a number.
      std::string front = content.substr(0, 8 + length);
      mutator.damageBytes(front);
      content = front + content.substr(8 + length);
    }
    Result<SafetensorsFile> file = SafetensorsFile::open(fileOf(content));
    if (!file)
      return fail(file.error());
    for (const TensorView &view : file->tensors())
      EXPECT_EQ(view.toF64().size(), static_cast<size_t>(view.elements()));
    return true;
  });
}

TEST_F(Mutations, ofModules) {
  std::vector<std::string> texts;
  for (const char *name : kModels)
    texts.push_back(textOf(name));
  each(300, 6000, [&](Mutator &mutator) {
    std::string text = texts[mutator.below(texts.size())];
    mutator.damageText(text);
    return readModule(text);
  });
}

} // namespace
