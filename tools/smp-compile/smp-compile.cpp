//===- smp-compile.cpp - From a model to a job -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ArchiveOptions.h"
#include "../ToolMain.h"
#include "smp/Import/Importer.h"
#include "smp/Pipelines/Phases.h"
#include "smp/Support/ByteCount.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"

namespace cl = llvm::cl;
using namespace smp;

static cl::OptionCategory category("smp-compile options");

namespace {

/// The options of this program. They are made in `main`, after LLVM's own of
/// the same names are gone.
struct Options {
  cl::opt<std::string> inputPath{
      cl::Positional, cl::cat(category), cl::value_desc("model.pt2|model.mlir"),
      cl::desc(
          "<archive of an exported model, or a module in the smp dialect>")};
  cl::opt<std::string> outputPath{
      "o", cl::init("job"), cl::cat(category), cl::value_desc("job"),
      cl::desc("Folder of the job (default 'job')")};
  ArchiveOptions archive{category};
  cl::opt<std::string> configPath{
      "config", cl::cat(category), cl::value_desc("smp.json"),
      cl::desc(
          "Configuration; the keys below may also be given as flags, which "
          "win (default: none)")};
  cl::opt<std::string> startFrom{
      "start-from", cl::init("import"), cl::cat(category),
      cl::value_desc("phase"),
      cl::desc("First phase to run, on a module dumped after the phase before "
               "(default 'import'; example --start-from=stage)")};
  cl::opt<std::string> stopAfter{
      "stop-after", cl::init("emit"), cl::cat(category),
      cl::value_desc("phase"),
      cl::desc("Last phase to run; before 'emit' the module goes to standard "
               "output (default 'emit'; example --stop-after=specialize)")};
  cl::opt<std::string> dumpPhases{
      "dump-phases", cl::cat(category), cl::value_desc("folder"),
      cl::desc(
          "Write the module after each phase there (default: not written)")};
  cl::opt<bool> quiet{"quiet", cl::cat(category),
                      cl::desc("Print errors only (default: progress and "
                               "a summary on standard error)")};
};

} // namespace

static constexpr char kOverview[] =
    "compiles a model into a job for smp-run\n\n"
    "Example:\n"
    "  smp-compile model.pt2 -o job --pipeline-parallel-degree=2 "
    "--microbatches=4 --batch-size=16\n\n"
    "Phases: import, specialize, shard, partition, stage, differentiate, "
    "distribute, schedule, lower, emit\n";

/// The configuration keys, for the help.
static std::string configHelp() {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "\nConfiguration keys, in --config and as flags (--key=value):\n";
  for (const ConfigKey &key : configKeys()) {
    os << "  --" << key.name << "=<" << key.type << ">";
    if (!key.defaultValue.empty())
      os << " (default " << key.defaultValue << ")";
    os << "\n      " << key.meaning << "\n";
    if (std::optional<std::string> limit = limitOf(key.name))
      os << "      (" << *limit << ")\n";
  }
  os << "\nExit codes: 0 done, 1 an error in the model, the configuration or "
        "the command line\n";
  return text;
}

static int fail(const Error &error) {
  llvm::errs() << "smp-compile: error: " << error.str() << "\n";
  return 1;
}

static Result<Config> readConfig(const Options &cli,
                                 const std::vector<std::string> &flags) {
  std::string text;
  if (!cli.configPath.empty()) {
    auto file = llvm::MemoryBuffer::getFile(cli.configPath);
    if (!file)
      return Error{"expects a configuration file '" + cli.configPath +
                   "', got " + file.getError().message()};
    // An empty file is no configuration.
    text = (*file)->getBuffer().str() + "\n";
  }
  Result<ParsedConfig> read = parseConfig(text, flags);
  if (!read)
    return nameConfig(read.error(), cli.configPath);
  const ParsedConfig &parsed = *read;
  for (const std::string &note : parsed.notes)
    llvm::errs() << "smp-compile: note: " << note << "\n";
  SMP_RETURN_IF_ERROR(checkSupported(parsed.config));
  return parsed.config;
}

/// Whether a file is a zip archive, as exports are.
static bool isArchive(llvm::StringRef path) {
  auto file = llvm::MemoryBuffer::getFileSlice(path, 2, 0);
  return file && (*file)->getBuffer() == "PK";
}

static mlir::OwningOpRef<mlir::ModuleOp>
importArchiveFile(mlir::MLIRContext &context, const std::string &path,
                  const pt2::ArchiveHints &hints) {
  Result<pt2::Pt2Archive> archive = pt2::Pt2Archive::open(path);
  if (archive)
    return importArchive(&context, *archive, hints);
  fail(archive.error());
  return nullptr;
}

static mlir::OwningOpRef<mlir::ModuleOp>
readModel(mlir::MLIRContext &context, const std::string &path,
          const pt2::ArchiveHints &hints) {
  if (auto file = llvm::MemoryBuffer::getFileSlice(path, 1, 0); !file) {
    fail({"expects a model at '" + path + "', got " +
          file.getError().message()});
    return nullptr;
  }
  if (isArchive(path))
    return importArchiveFile(context, path, hints);
  if (!hints.empty()) {
    fail({"expects --labels, --loss-output and --data-convention only for "
          "archives, got them for '" +
          path + "'"});
    return nullptr;
  }
  if (Status status = checkModuleText(path); !status) {
    fail(status.error());
    return nullptr;
  }
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(path, &context);
  if (module && module->getBody()->empty()) {
    fail({"expects a model at '" + path + "', got a module without functions"});
    return nullptr;
  }
  return module;
}

/// Whether a folder holds a job, which says what made it.
static bool holdsJob(const std::string &path) {
  llvm::SmallString<128> manifest(path);
  llvm::sys::path::append(manifest, "job.json");
  auto file = llvm::MemoryBuffer::getFile(manifest);
  return file && (*file)->getBuffer().contains("\"smp\":");
}

/// Whether a job can be written there, before it is made.
static Status checkJobFolder(const std::string &path) {
  namespace fs = llvm::sys::fs;
  auto refuse = [&](std::error_code code) {
    return Error{"expects a folder '" + path + "' to write the job to, got " +
                     code.message(),
                 "name another one: -o job"};
  };
  if (path.empty())
    return refuse(make_error_code(std::errc::no_such_file_or_directory));
  // What is not there is made, in the nearest folder above that is.
  llvm::StringRef place = path;
  while (!fs::exists(place) && !llvm::sys::path::parent_path(place).empty())
    place = llvm::sys::path::parent_path(place);
  if (!fs::exists(place))
    place = ".";
  if (!fs::is_directory(place))
    return refuse(make_error_code(std::errc::not_a_directory));
  if (access(place.str().c_str(), W_OK | X_OK) != 0)
    return refuse(std::error_code(errno, std::generic_category()));
  // A job replaces another one, and nothing else.
  std::error_code error;
  bool isEmpty =
      fs::directory_iterator(path, error) == fs::directory_iterator();
  if (!error && !isEmpty && !holdsJob(path))
    return Error{"expects a new or empty folder, or a job to replace, got '" +
                     path + "' with other files",
                 "name another one: -o job"};
  return {};
}

/// What a rank takes when it trains, and what other runs take instead where
/// that is more.
static void printMemory(llvm::raw_ostream &os,
                        llvm::ArrayRef<MemoryReport> ranks) {
  for (auto [rank, memory] : llvm::enumerate(ranks))
    os << "memory: pp rank " << rank << " takes "
       << formatBytes(memory.training) << "\n";
  const std::pair<const char *, int64_t MemoryReport::*> others[] = {
      {"--eval-data", &MemoryReport::withEvaluation},
      {"--generate", &MemoryReport::withGeneration}};
  for (const auto &[option, bytes] : others)
    for (auto [rank, memory] : llvm::enumerate(ranks))
      if (memory.*bytes > memory.training + memory.training / 100)
        os << "memory with " << option << ": pp rank " << rank << " takes "
           << formatBytes(memory.*bytes) << "\n";
}

static void printSummary(const CompileReport &report, const std::string &path) {
  llvm::raw_ostream &os = llvm::errs();
  if (report.partition) {
    const PartitionReport &plan = *report.partition;
    for (const std::string &explanation : plan.explanations)
      os << "partition: " << explanation << "\n";
    if (plan.objective && plan.stages.size() > 1)
      os << llvm::format(
          "partition: largest stage cost %.4f, lower bound %.4f\n",
          *plan.objective, plan.bound.value_or(0));
  }
  if (!report.job)
    return;
  os << "job: " << path << ", microbatches of " << report.rows
     << (report.rows == 1 ? " row, " : " rows, ") << report.job->kernels
     << " kernels, " << report.job->commands << " commands\n";
  printMemory(os, report.job->memory);
}

static int run(const Options &cli, const std::vector<std::string> &flags) {
  if (cli.inputPath.empty())
    return fail({"expects a model, got none",
                 "smp-compile model.pt2 -o job; --help lists the options"});
  Result<Config> config = readConfig(cli, flags);
  if (!config)
    return fail(config.error());
  std::optional<Phase> first = parsePhase(cli.startFrom),
                       last = parsePhase(cli.stopAfter);
  if (!first || !last || *last < *first)
    return fail(
        {"expects phases of the list in --help, the first not after the "
         "last, got '" +
         cli.startFrom + "' and '" + cli.stopAfter + "'"});
  if (*last == Phase::Emit)
    if (Status status = checkJobFolder(cli.outputPath); !status)
      return fail(status.error());

  mlir::DialectRegistry registry;
  registerCompiler(registry);
  mlir::MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler diagnostics(sources, &context);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      readModel(context, cli.inputPath, cli.archive.hints());
  if (!module)
    return 1;

  CompileOptions options;
  options.config = *config;
  options.model = llvm::sys::path::stem(cli.inputPath).str();
  options.jobDirectory = cli.outputPath;
  options.startFrom = *first;
  options.stopAfter = *last;
  options.dumpDirectory = cli.dumpPhases;
  if (!cli.quiet)
    options.progress = [](Phase phase, double seconds) {
      llvm::errs() << llvm::format(
          "[%2d/%d] %-13s %6.2f s\n", static_cast<int>(phase) + 1, kPhaseCount,
          std::string(phaseName(phase)).c_str(), seconds);
    };
  llvm::FailureOr<CompileReport> report = compile(*module, options);
  if (failed(report))
    return 1;
  if (*last != Phase::Emit)
    module->print(llvm::outs());
  if (!cli.quiet)
    printSummary(*report, cli.outputPath);
  return 0;
}

/// Whether an argument is a flag that no option of this program has: a key of
/// the configuration, or a mistake that its reader knows best.
static bool belongsToConfig(llvm::StringRef argument) {
  llvm::StringRef name = argument;
  if (!name.consume_front("--"))
    return false;
  return !cl::getRegisteredOptions().count(name.split('=').first);
}

/// `--batch-size 8` would make a second model of the 8.
static Status checkValues(llvm::ArrayRef<std::string> flags) {
  for (const std::string &flag : flags) {
    if (!isConfigFlag(flag) || flag.find('=') != std::string::npos)
      continue;
    // Not what it lacks beside it, which other flags may give.
    auto alone = parseConfig("", std::vector<std::string>{flag});
    if (!alone && llvm::StringRef(alone.error().message).ends_with("got true"))
      return Error{alone.error().message,
                   "a value follows '=', as in --batch-size=8"};
  }
  return {};
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  installLastWords("smp-compile");
  // LLVM's code generator has options of these names.
  for (const char *name : {"stop-after", "start-from"})
    cl::getRegisteredOptions().erase(name);
  Options cli;
  std::vector<const char *> own;
  std::vector<std::string> flags;
  for (int index = 0; index < argc; ++index) {
    if (index > 0 && belongsToConfig(argv[index]))
      flags.emplace_back(argv[index]);
    else
      own.push_back(argv[index]);
  }
  std::string help = configHelp();
  cl::extrahelp extra(help);
  cl::HideUnrelatedOptions(category);
  if (Status status = checkValues(flags); !status)
    return fail(status.error());
  cl::ParseCommandLineOptions(own.size(), own.data(), kOverview);
  return run(cli, flags);
}
