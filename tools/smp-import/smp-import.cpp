//===- smp-import.cpp - From a PyTorch export to MLIR ---------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ArchiveOptions.h"
#include "../ToolMain.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "smp/Import/Coverage.h"
#include "smp/Import/Importer.h"
#include "smp/Import/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

namespace cl = llvm::cl;
using namespace smp;

static cl::OptionCategory category("smp-import options");

static cl::opt<std::string>
    inputPath(cl::Positional, cl::cat(category), cl::value_desc("model.pt2"),
              cl::desc("<archive of smp.export or torch.export.save>"));

static cl::opt<std::string> outputPath(
    "o", cl::init("-"), cl::cat(category), cl::value_desc("model.mlir"),
    cl::desc("Where the module goes (default '-', standard output)"));

static cl::opt<std::string> weightsPath(
    "weights", cl::cat(category), cl::value_desc("model.safetensors"),
    cl::desc("Also write the archive's weights there (default: not written)"));

static ArchiveOptions aboutArchive(category);

static cl::opt<bool> recover(
    "recover-composites", cl::init(true), cl::cat(category),
    cl::desc("Put together the composites that the export took apart (default "
             "on; off shows operator by operator what the archive holds)"));

static cl::opt<bool> listOperators(
    "list-operators", cl::cat(category),
    cl::desc("Print the ATen operators that can be imported, and stop"));

static cl::opt<bool> coverage(
    "coverage", cl::cat(category),
    cl::desc("Print how many nodes of each ATen operator the archive has and "
             "how many cannot be imported, and stop; exit code 1 if there are "
             "any (default off)"));

static constexpr char kOverview[] =
    "imports a PyTorch model into the smp dialect\n\n"
    "Example:\n"
    "  smp-import model.pt2 -o model.mlir --weights model.safetensors\n\n"
    "Exit codes: 0 done, 1 an error in the archive or the command line\n";

static int fail(const Error &error) {
  llvm::errs() << "smp-import: error: " << error.str() << "\n";
  return 1;
}

static int showCoverage(const pt2::Pt2Archive &archive) {
  auto operators = coverageOf(archive);
  printCoverage(operators, llvm::outs());
  return llvm::any_of(operators,
                      [](const auto &entry) { return entry.second.missing; });
}

static int run() {
  if (listOperators) {
    for (const std::string &name : importedOperators())
      llvm::outs() << name << "\n";
    return 0;
  }
  if (inputPath.empty())
    return fail(
        {"expects an archive, got none", "smp-import model.pt2 -o model.mlir"});
  Result<pt2::Pt2Archive> archive = pt2::Pt2Archive::open(inputPath);
  if (!archive)
    return fail(archive.error());
  if (coverage)
    return showCoverage(*archive);
  mlir::MLIRContext context;
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler diagnostics(sources, &context);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      importArchive(&context, *archive, aboutArchive.hints());
  if (!module)
    return 1;
  mlir::PassManager passes(&context);
  if (recover)
    passes.addPass(createRecoverCompositesPass());
  if (failed(passes.run(*module)))
    return 1;
  if (!weightsPath.empty()) {
    Result<size_t> written = pt2::writeWeights(*archive, weightsPath);
    if (!written)
      return fail(written.error());
  }
  std::string message;
  auto output = mlir::openOutputFile(outputPath, &message);
  if (!output)
    return fail({message});
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
  module->print(output->os(), flags);
  output->os() << "\n";
  output->os().flush();
  if (std::error_code failure = output->os().error()) {
    output->os().clear_error();
    return fail({"cannot write '" + outputPath + "': " + failure.message()});
  }
  output->keep();
  return 0;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  installLastWords("smp-import");
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, kOverview);
  return run();
}
