//===- smp-opt.cpp - Every pass alone, on textual IR -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ToolMain.h"
#include "smp/Autodiff/Passes.h"
#include "smp/Cost/Passes.h"
#include "smp/Emit/EmitJob.h"
#include "smp/IR/SmpDialect.h"
#include "smp/Import/Passes.h"
#include "smp/Lowering/Passes.h"
#include "smp/Partition/Passes.h"
#include "smp/Schedule/Passes.h"
#include "smp/Sharding/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

/// LLVM's libraries bring a thousand options, among which a reader of --help
/// would not find the passes; --help-hidden shows them. What MlirOptMain
/// registers later is shown.
static void hideOptionsOfLibraries() {
  for (auto &[name, option] : llvm::cl::getRegisteredOptions())
    if (name != "help" && name != "help-list" && name != "version")
      option->setHiddenFlag(option->getOptionHiddenFlag() ==
                                    llvm::cl::ReallyHidden
                                ? llvm::cl::ReallyHidden
                                : llvm::cl::Hidden);
}

int main(int argc, char **argv) {
  hideOptionsOfLibraries();
  mlir::DialectRegistry registry;
  registry.insert<smp::SmpDialect, mlir::arith::ArithDialect,
                  mlir::func::FuncDialect>();
  mlir::registerTransformsPasses();
  smp::registerSmpAutodiffPasses();
  smp::registerSmpCostPasses();
  smp::registerSmpPartitionPasses();
  smp::registerSmpSchedulePasses();
  smp::registerSmpImportPasses();
  smp::registerSmpShardingPasses();
  smp::registerSmpLoweringPasses();
  smp::registerEmit(registry);
  llvm::InitLLVM init(argc, argv);
  smp::installLastWords("smp-opt");
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "smp: optimizer driver\n", registry);
  if (smp::Status status = smp::checkModuleText(input); !status) {
    llvm::errs() << "smp-opt: error: " << status.error().str() << "\n";
    return 1;
  }
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, input, output, registry));
}
