//===- EmitJobTest.cpp - Folders that the runtime accepts -------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Emit/EmitJob.h"
#include "Fixtures/TemporaryPath.h"
#include "smp/IR/SmpDialect.h"
#include "smp/Support/MappedFile.h"
#include "smp/runtime/Job/JobChecker.h"
#include "smp/runtime/Job/JobReader.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace smp;
using namespace smp::runtime;

namespace {

class EmitJobTest : public testing::Test {
protected:
  EmitJobTest() {
    registerEmit(registry);
    registry.insert<func::FuncDialect>();
    context = std::make_unique<MLIRContext>(registry);
    context->loadAllAvailableDialects();
  }

  void emit(const std::string &name) {
    directory = test::temporaryPath(name);
    emitAgain();
  }

  void emitAgain() {
    auto module = parseSourceFile<ModuleOp>(SMP_MLP_FILE, context.get());
    ASSERT_TRUE(module);
    EmitOptions options;
    options.directory = directory;
    options.config.pipelineParallelDegree = 2;
    options.config.microbatches = 2;
    options.config.optimizer.kind = OptimizerKind::SGD;
    options.config.gradientClipping = 0.1;
    auto report = lowerAndEmit(*module, options);
    ASSERT_TRUE(succeeded(report));
    kernels = report->kernels;
  }

  std::string read(const std::string &file) {
    auto content = readFile(directory + "/" + file);
    return content ? *content : "missing";
  }

  static const Program &program(const RankJob &job, const std::string &name) {
    for (const Program &each : job.programs)
      if (each.name == name)
        return each;
    ADD_FAILURE() << "no program " << name;
    return job.programs.front();
  }

  template <typename Work> static size_t count(const Program &program) {
    size_t result = 0;
    for (const runtime::Command &command : program.commands)
      result += std::holds_alternative<Work>(command.work);
    return result;
  }

  DialectRegistry registry;
  std::unique_ptr<MLIRContext> context;
  std::string directory;
  size_t kernels = 0;
};

TEST_F(EmitJobTest, RuntimeAcceptsTheFolder) {
  emit("accept");
  auto job = readJob(directory);
  ASSERT_TRUE(job) << job.error().str();
  EXPECT_TRUE(checkJobHash(*job));
  Status features = checkCpuFeatures(*job);
  EXPECT_TRUE(features) << (features ? "" : features.error().str());
  EXPECT_EQ(job->pp, 2u);
  EXPECT_EQ(job->parameters.size(), 3u);
  EXPECT_EQ(job->inputs.size(), 2u);
  EXPECT_EQ(job->outputs.size(), 1u);
  for (unsigned rank = 0; rank < 2; ++rank) {
    auto rankJob = readRankJob(*job, rank);
    ASSERT_TRUE(rankJob) << rankJob.error().str();
    EXPECT_FALSE(rankJob->train.actions.empty());
    EXPECT_FALSE(rankJob->predict.actions.empty());
    // The waits order every two accesses that touch.
    EXPECT_TRUE(findConflicts(*job, *rankJob, rankJob->train).empty());
    EXPECT_TRUE(findConflicts(*job, *rankJob, rankJob->predict).empty());
  }
}

TEST_F(EmitJobTest, SaysWhatSchedulesUse) {
  emit("used");
  auto job = readJob(directory);
  ASSERT_TRUE(job) << job.error().str();
  for (const RankMemory &rank : job->ranks) {
    EXPECT_EQ(rank.bytes({true, true, true}), rank.peakBytes);
    for (const Arena &arena : rank.arenas)
      if (arena.kind == "gradients" || arena.kind == "stash") {
        EXPECT_EQ(arena.bytes({true, false, false}), arena.bytes());
        EXPECT_EQ(arena.bytes({false, true, true}), 0);
      } else if (arena.kind == "parameters" || arena.kind == "scalars") {
        EXPECT_EQ(arena.bytes({false, false, false}), arena.bytes());
      }
  }
}

TEST_F(EmitJobTest, GradientsAccumulateAndReduceInPlace) {
  emit("place");
  auto job = readJob(directory);
  ASSERT_TRUE(job) << job.error().str();
  auto rankJob = readRankJob(*job, 0);
  ASSERT_TRUE(rankJob) << rankJob.error().str();
  // The weight's product starts from the accumulator.
  const Program &backward = program(*rankJob, "backward");
  EXPECT_EQ(count<CopyCommand>(backward), 0u);
  for (const runtime::Command &command : backward.commands)
    if (auto *product = std::get_if<ProductCommand>(&command.work)) {
      EXPECT_TRUE(product->accumulate);
    }
  // One sum for both gradients, one for the norm; nothing is copied.
  const Program &update = program(*rankJob, "update");
  EXPECT_EQ(count<CollectiveCommand>(update), 2u);
  EXPECT_EQ(count<CopyCommand>(update), 0u);
}

TEST_F(EmitJobTest, SameInputSameBytes) {
  emit("once");
  std::vector<std::string> files = {
      "job.json",     "rank-0.json",   "rank-1.json", "chunk-0.json",
      "chunk-1.json", "constants.bin", "kernels.so",  "partition.json"};
  std::vector<std::string> first;
  for (const std::string &file : files)
    first.push_back(read(file));
  emitAgain();
  for (auto [file, content] : llvm::zip(files, first))
    EXPECT_EQ(read(file) == content, true) << file;
}

TEST_F(EmitJobTest, ErrorForAFolderThatCannotBe) {
  ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) {
    EXPECT_NE(diagnostic.str().find("expects a folder"), std::string::npos)
        << diagnostic.str();
    return success();
  });
  auto module = parseSourceFile<ModuleOp>(SMP_MLP_FILE, context.get());
  ASSERT_TRUE(module);
  EmitOptions options;
  options.directory = "/proc/smp/job";
  EXPECT_TRUE(failed(lowerAndEmit(*module, options)));
}

TEST_F(EmitJobTest, ErrorForAccessesInNoOrder) {
  std::string message;
  std::vector<std::string> notes;
  ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    for (Diagnostic &note : diagnostic.getNotes())
      notes.push_back(note.str());
    return success();
  });
  auto module = parseSourceFile<ModuleOp>(SMP_MLP_FILE, context.get());
  ASSERT_TRUE(module);
  // The first forward of rank 0 no longer waits for its input.
  auto waits = Builder(context.get()).getDenseI64ArrayAttr({});
  module->walk([&](LaunchOp launch) {
    if (launch.getProgram() == "chunk0_forward")
      launch->setAttr("waits", waits);
  });
  EmitOptions options;
  options.directory = test::temporaryPath("unordered");
  options.config.pipelineParallelDegree = 2;
  options.config.microbatches = 2;
  EXPECT_TRUE(failed(lowerAndEmit(*module, options)));
  EXPECT_NE(message.find("expects waits that order all accesses, got rank 0: "
                         "action 1 (load) writes and action 2 ('forward' of "
                         "chunk 0) command 0"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("reads 32 bytes at offset 0 of arena 'input.x' in no "
                         "order"),
            std::string::npos)
      << message;
  EXPECT_EQ(llvm::count(notes, "a mistake of the compiler, not of the model: "
                               "please report it"),
            1);
  // Nothing starts what was not proven.
  auto job = readJob(options.directory);
  ASSERT_TRUE(job) << job.error().str();
  EXPECT_FALSE(checkJobHash(*job));
}

TEST_F(EmitJobTest, ErrorForATypeWithoutKernels) {
  std::string message;
  ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  auto module = parseSourceString<ModuleOp>(
      "func.func @f(%x: tensor<4xbf16>) -> tensor<4xbf16> {\n"
      "  %0 = smp.exp %x : tensor<4xbf16>\n"
      "  return %0 : tensor<4xbf16>\n"
      "}",
      context.get());
  ASSERT_TRUE(module);
  EXPECT_TRUE(failed(lowerPrograms(*module)));
  EXPECT_NE(message.find("expects elements of type f32, f64 or integers, got "
                         "'bf16'"),
            std::string::npos)
      << message;
}

} // namespace
