//===- smp-interpret.cpp - Runs a module on tensors -----------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exit codes: 0 success; 1 wrong use, files or module; 2 results differ from
// those of --compare.
//
//===----------------------------------------------------------------------===//

#include "../ToolMain.h"
#include "Compare.h"
#include "Print.h"
#include "Run.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "smp/Interpret/Interpretable.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace smp;
using namespace smp::interpret;
namespace cl = llvm::cl;

static cl::OptionCategory category(
    "smp-interpret options",
    "Keys of the configuration (smp-compile --help) are flags as well, such as "
    "--microbatches=4");

static cl::opt<std::string> inputFile(cl::Positional, cl::Required,
                                      cl::desc("<module of any phase>"),
                                      cl::value_desc("model.mlir"),
                                      cl::cat(category));
static cl::opt<std::string> weights(
    "weights",
    cl::desc("parameters: 'reference', 'random' (by the initialisers and "
             "--seed) or a safetensors file (default reference)"),
    cl::init("reference"), cl::value_desc("FILE|reference|random"),
    cl::cat(category));
static cl::opt<std::string>
    inputs("inputs",
           cl::desc("values of the model's inputs, by name; required where "
                    "there are inputs"),
           cl::value_desc("in.safetensors"), cl::cat(category));
static cl::opt<std::string> inputsPrefix(
    "inputs-prefix",
    cl::desc("use the tensors whose names start so, without it, such as "
             "'b2/inputs/' (default none)"),
    cl::value_desc("TEXT"), cl::cat(category));
static cl::opt<std::string>
    output("o",
           cl::desc("where the results go (default: printed, unless there is "
                    "--compare)"),
           cl::value_desc("out.safetensors"), cl::cat(category));
static cl::opt<Precision>
    precision("precision", cl::desc("how results are rounded (default native)"),
              cl::values(clEnumValN(Precision::Native, "native",
                                    "each to its written type"),
                         clEnumValN(Precision::F64, "f64",
                                    "not: all floating types are f64")),
              cl::init(Precision::Native), cl::cat(category));
static cl::opt<Graph>
    graph("graph", cl::desc("what to run (default train)"),
          cl::values(clEnumValN(Graph::Train, "train", "the training graph"),
                     clEnumValN(Graph::Eval, "eval", "the evaluation graph"),
                     clEnumValN(Graph::Predict, "predict",
                                "the outputs without labels, after stage")),
          cl::init(Graph::Train), cl::cat(category));
static cl::opt<bool> gradients(
    "gradients",
    cl::desc("also 'grad/<parameter>', the loss's gradients (default off)"),
    cl::cat(category));
static cl::opt<unsigned>
    steps("steps",
          cl::desc("train so many steps: 'losses', 'norms', "
                   "'params/<parameter>', 'optimizer/<parameter>/<state>'; "
                   "inputs hold the rows of one step or of all (default 0)"),
          cl::value_desc("N"), cl::init(0), cl::cat(category));
static cl::opt<unsigned>
    ranks("ranks",
          cl::desc("virtual ranks, a multiple of pipeline_parallel_degree "
                   "(default one replica)"),
          cl::value_desc("N"), cl::init(0), cl::cat(category));
static cl::opt<std::string>
    configFile("config",
               cl::desc("the configuration of the training job (default none)"),
               cl::value_desc("smp.json"), cl::cat(category));
static cl::opt<std::string> compareFile(
    "compare",
    cl::desc("compare the results with these tensors (default none)"),
    cl::value_desc("expected.safetensors"), cl::cat(category));
static cl::opt<std::string> comparePrefix(
    "compare-prefix",
    cl::desc("compare with the tensors whose names start so, without it, such "
             "as 'b2/f64/train/' (default none)"),
    cl::value_desc("TEXT"), cl::cat(category));
static cl::opt<std::string> resultsPrefix(
    "results-prefix",
    cl::desc("the results to compare are those whose names start so, before "
             "what --compare-prefix left, such as 'grad/' (default none)"),
    cl::value_desc("TEXT"), cl::cat(category));
static cl::opt<double> tolerance(
    "tolerance",
    cl::desc("largest difference of --compare, relative to the largest element "
             "of the expected tensor (default 0)"),
    cl::value_desc("X"), cl::init(0), cl::cat(category));

static int report(const Error &error) {
  llvm::errs() << "smp-interpret: error: " << error.str() << "\n";
  return 1;
}

static Result<Config> readConfig(ArrayRef<std::string> flags) {
  std::string text;
  if (!configFile.empty()) {
    auto file = llvm::MemoryBuffer::getFile(configFile);
    if (!file)
      return Error{"'" + configFile + "' expects a readable file, got " +
                   file.getError().message()};
    // An empty file is no configuration.
    text = (*file)->getBuffer().str() + "\n";
  }
  Result<ParsedConfig> read = parseConfig(text, flags.vec());
  if (!read)
    return nameConfig(read.error(), configFile);
  const ParsedConfig &parsed = *read;
  for (const std::string &note : parsed.notes)
    llvm::errs() << "smp-interpret: note: " << note << "\n";
  SMP_RETURN_IF_ERROR(checkSupported(parsed.config));
  return parsed.config;
}

static Result<RunOptions> readOptions(ArrayRef<std::string> flags) {
  RunOptions options;
  options.graph = graph;
  options.gradients = gradients;
  options.steps = steps;
  options.step.precision = precision;
  options.step.totalSteps = std::max(1u, steps.getValue());
  SMP_ASSIGN_OR_RETURN(options.step.config, readConfig(flags));
  const Config &config = options.step.config;
  int64_t perReplica =
      config.pipelineParallelDegree * config.tensorParallelDegree;
  SMP_ASSIGN_OR_RETURN(Grid grid,
                       Grid::create(config.placementStrategy,
                                    config.pipelineParallelDegree,
                                    config.tensorParallelDegree,
                                    ranks == 0 ? perReplica : ranks));
  options.step.owners = grid.rdp();
  return options;
}

static Result<TensorMap> readInputs() {
  if (inputs.empty())
    return TensorMap();
  return readTensors(inputs, inputsPrefix);
}

/// Writes and compares the results.
static int finish(const TensorMap &results) {
  if (!output.empty())
    if (Status status =
            writeTensors(output, results, precision == Precision::F64);
        !status)
      return report(status.error());
  if (compareFile.empty()) {
    if (output.empty())
      printTensors(results, llvm::outs());
    return 0;
  }
  Result<TensorMap> expected = readTensors(compareFile, comparePrefix);
  if (!expected)
    return report(expected.error());
  TensorMap named;
  for (auto &[name, tensor] : *expected)
    named[resultsPrefix + name] = tensor;
  return compareTensors(results, named, tolerance, llvm::outs()) ? 0 : 2;
}

static int interpretModule(ArrayRef<std::string> flags) {
  Result<RunOptions> options = readOptions(flags);
  if (!options)
    return report(options.error());
  if (Status status = checkModuleText(inputFile); !status)
    return report(status.error());
  if (!(tolerance >= 0))
    return report({"'--tolerance' expects a number of at least 0, got " +
                   std::to_string(tolerance)});
  Result<TensorMap> tensors = readInputs();
  if (!tensors)
    return report(tensors.error());
  DialectRegistry registry;
  registry.insert<SmpDialect, arith::ArithDialect, func::FuncDialect>();
  registerInterpreter(registry);
  MLIRContext context(registry);
  // A message about a module would print all of it.
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  auto module = parseSourceFile<ModuleOp>(inputFile, sources, &context);
  if (!module)
    return 1;
  auto source = WeightSource::parse(weights, options->step.config.seed);
  Result<ModelState> model = loadWeights(*module, source);
  if (!model)
    return report(model.error());
  FailureOr<TensorMap> results =
      runModule(*module, std::move(*model), *tensors, *options);
  return failed(results) ? 1 : finish(*results);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  installLastWords("smp-interpret");
  cl::HideUnrelatedOptions(category);
  std::vector<std::string> flags;
  std::vector<const char *> arguments;
  for (int index = 0; index < argc; ++index)
    if (index > 0 && isConfigFlag(argv[index]))
      flags.emplace_back(argv[index]);
    else
      arguments.push_back(argv[index]);
  cl::ParseCommandLineOptions(
      arguments.size(), arguments.data(),
      "runs a module of the smp dialect on tensors: what the IR means\n\n"
      "  smp-interpret model.mlir --weights=reference "
      "--inputs=in.safetensors -o out.safetensors\n\n"
      "exit codes: 0 success, 1 wrong use, files or module, 2 results differ "
      "from those of --compare\n");
  return interpretModule(flags);
}
