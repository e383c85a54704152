//===- HostCode.cpp - Kernels to a shared object of the host ---*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Codegen/HostCode.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace smp;
using namespace smp::codegen;

HostTarget smp::codegen::hostTarget() {
  // Each level holds those before it.
  static const struct {
    const char *cpu;
    std::vector<std::pair<const char *, const char *>> features;
  } levels[] = {
      {"x86-64-v2",
       {{"sse4.2", "sse4_2"}, {"ssse3", "ssse3"}, {"popcnt", "popcnt"}}},
      {"x86-64-v3",
       {{"avx2", "avx2"},
        {"bmi", "bmi1"},
        {"bmi2", "bmi2"},
        {"f16c", "f16c"},
        {"fma", "fma"},
        {"movbe", "movbe"}}},
      {"x86-64-v4",
       {{"avx512f", "avx512f"},
        {"avx512bw", "avx512bw"},
        {"avx512cd", "avx512cd"},
        {"avx512dq", "avx512dq"},
        {"avx512vl", "avx512vl"}}}};
  llvm::StringMap<bool> present = llvm::sys::getHostCPUFeatures();
  HostTarget target{"x86-64", {}};
  for (const auto &level : levels) {
    for (auto [feature, flag] : level.features)
      if (!present.lookup(feature))
        return target;
    target.cpu = level.cpu;
    for (auto [feature, flag] : level.features)
      target.features.emplace_back(flag);
  }
  return target;
}

LogicalResult smp::codegen::lowerKernels(ModuleOp kernels) {
  RewritePatternSet patterns(kernels.getContext());
  populateMathPolynomialApproximationPatterns(patterns);
  if (failed(applyPatternsGreedily(kernels, std::move(patterns))))
    return kernels.emitError() << "approximating functions did not end";
  PassManager passes(kernels.getContext());
  passes.addPass(createCSEPass());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  passes.addPass(createCSEPass());
  return passes.run(kernels);
}

static std::unique_ptr<llvm::TargetMachine>
makeMachine(const HostTarget &target, std::string &error) {
  static const bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!found)
    return nullptr;
  llvm::TargetOptions options;
  // Multiply-adds exist only where an op's formula has one.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(found->createTargetMachine(
      triple, target.cpu, "", options, llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel::Default));
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  // The code is vectors already.
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  // VectorCombine of LLVM 22 makes divisions exact that are not: it gives the
  // flags of a vector operation to the scalar that this folds to, even if that
  // was there before. (x / 7) * 28 became x * 4.
  llvm::PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback(
      [](StringRef pass, const llvm::Any &) {
        return pass != "VectorCombinePass";
      });
  llvm::PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, modules);
}

/// Returns why the file could not be written.
static std::error_code
emitObject(llvm::Module &module, llvm::TargetMachine &machine, StringRef path) {
  std::error_code failure;
  llvm::raw_fd_ostream out(path, failure);
  if (failure)
    return failure;
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, out, nullptr,
                                  llvm::CodeGenFileType::ObjectFile))
    return make_error_code(std::errc::not_supported);
  passes.run(module);
  out.close();
  failure = out.error();
  out.clear_error();
  return failure;
}

/// The first line of what the linker said, without its own name.
static std::string firstLine(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return "";
  StringRef line = (*file)->getBuffer().split('\n').first;
  return line
      .substr(line.find("error: ") == StringRef::npos
                  ? 0
                  : line.find("error: ") + 7)
      .str();
}

static LogicalResult link(ModuleOp kernels, StringRef object, StringRef path) {
  std::string linker;
  for (const char *name : {"ld.lld-22", "ld.lld", "ld"})
    if (auto found = llvm::sys::findProgramByName(name)) {
      linker = *found;
      break;
    }
  if (linker.empty())
    return kernels.emitError()
           << "expects one of the linkers 'ld.lld-22', 'ld.lld' or 'ld' in "
              "PATH, got none";
  std::string said = (object + ".said").str(), error;
  llvm::FileRemover remover(said);
  SmallVector<StringRef> words = {
      linker, "-shared", "--build-id=none", "-s", "-o", path, object};
  // Mapped, a full disk would be a crash.
  if (StringRef(linker).contains("lld"))
    words.push_back("--no-mmap-output-file");
  int status = llvm::sys::ExecuteAndWait(
      linker, words, std::nullopt, {StringRef(""), said, said}, 0, 0, &error);
  if (status == 0)
    return success();
  if (error.empty())
    error = firstLine(said);
  if (error.empty())
    error = "exit code " + std::to_string(status);
  return kernels.emitError()
         << "expects '" << linker << "' to link the kernels into '" << path
         << "', got: " << error;
}

LogicalResult smp::codegen::writeSharedObject(ModuleOp kernels,
                                              const HostTarget &target,
                                              StringRef path) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(kernels, context, "kernels");
  if (!module)
    return kernels.emitError() << "kernels do not translate to LLVM IR";
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = makeMachine(target, error);
  if (!machine)
    return kernels.emitError()
           << "expects a target for this host, got " << error;
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  for (llvm::Function &function : *module)
    if (!function.isDeclaration()) {
      function.addFnAttr("target-cpu", target.cpu);
      function.addFnAttr("prefer-vector-width", "512");
      function.addFnAttr(llvm::Attribute::NoUnwind);
    }
  optimize(*module, *machine);

  llvm::SmallString<128> object;
  if (llvm::sys::fs::createTemporaryFile("kernels", "o", object))
    return kernels.emitError() << "expects a writable folder for temporary "
                                  "files, got none: set TMPDIR to one";
  llvm::FileRemover remover(object);
  if (std::error_code failure = emitObject(*module, *machine, object))
    return kernels.emitError()
           << "expects to write '" << object << "', got " << failure.message();
  return link(kernels, object, path);
}
