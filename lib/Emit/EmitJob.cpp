//===- EmitJob.cpp - A scheduled module to a job folder --------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Emit/EmitJob.h"
#include "Constants.h"
#include "Limits.h"
#include "Manifest.h"
#include "Schedules.h"
#include "Storage.h"
#include "smp/Codegen/HostCode.h"
#include "smp/Lowering/Lowering.h"
#include "smp/Memory/ArenaPlan.h"
#include "smp/Support/Hash.h"
#include "smp/Support/MappedFile.h"
#include "smp/runtime/Job/JobChecker.h"
#include "smp/runtime/Job/JobReader.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace smp;
using namespace smp::emit;
using nlohmann::json;

//===----------------------------------------------------------------------===//
// lower
//===----------------------------------------------------------------------===//

/// Kernels compute in the types that have formulas; products are the library's.
static LogicalResult checkType(Operation &op, Type type) {
  Type element = cast<RankedTensorType>(type).getElementType();
  bool library = isa<ProductOp, ConvolutionOp>(op);
  bool known =
      element.isF32() || (!library && (element.isF64() || element.isInteger()));
  if (known)
    return success();
  return op.emitOpError() << "expects elements of type f32"
                          << (library ? "" : ", f64 or integers") << ", got "
                          << element;
}

static LogicalResult checkLowered(func::FuncOp program) {
  for (Operation &op : program.getBody().front().without_terminator()) {
    if (!isa<CommandOpInterface>(op))
      return op.emitOpError("expects an op that has code, got none");
    for (Type type : op.getResultTypes())
      if (failed(checkType(op, type)))
        return failure();
  }
  return success();
}

LogicalResult smp::lowerPrograms(ModuleOp module) {
  recordLimits(module);
  for (func::FuncOp program : module.getOps<func::FuncOp>()) {
    if (program.isDeclaration())
      continue;
    decompose(program);
    formClusters(program);
    if (failed(checkLowered(program)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// emit
//===----------------------------------------------------------------------===//

namespace {

class JobEmitter {
public:
  JobEmitter(Programs programs, const EmitOptions &options)
      : programs(std::move(programs)), options(options),
        kernels(this->programs.module.getContext()),
        ranks(layOutArenas(this->programs)), outputsEnd(ranks.size()),
        pools(ranks.size()) {}

  FailureOr<EmitReport> run() {
    if (failed(prepareFolder()))
      return failure();
    for (const Program &program : programs.all)
      emitProgram(program);
    if (failed(countUse(programs, extents, ranks)))
      return failure();
    placeConstants();
    if (failed(writeKernels()) || failed(writeLists()) ||
        failed(writeManifest()))
      return failure();
    report.kernels = kernels.symbols().size();
    return report;
  }

private:
  std::string path(const std::string &file) const {
    return options.directory + "/" + file;
  }
  InFlightDiagnostic error() { return programs.module.emitError(); }

  LogicalResult write(const std::string &file, StringRef content) {
    std::error_code failure;
    llvm::raw_fd_ostream out(path(file), failure);
    if (!failure) {
      out << content;
      out.close();
      failure = out.error();
      out.clear_error();
    }
    if (failure)
      return error() << "expects to write '" << path(file) << "', got "
                     << failure.message();
    return success();
  }
  LogicalResult write(const std::string &file, const json &content) {
    return write(file, StringRef(content.dump(1) + "\n"));
  }

  /// Lists of an earlier job with more chunks or ranks would be read, too.
  LogicalResult prepareFolder() {
    if (std::error_code failure =
            llvm::sys::fs::create_directories(options.directory))
      return error() << "expects a folder '" << options.directory << "', got "
                     << failure.message();
    std::error_code failure;
    for (llvm::sys::fs::directory_iterator entry(options.directory, failure),
         end;
         entry != end && !failure; entry.increment(failure)) {
      StringRef name = llvm::sys::path::filename(entry->path());
      if (name.ends_with(".json") &&
          (name.starts_with("chunk-") || name.starts_with("rank-")))
        if (std::error_code kept = llvm::sys::fs::remove(entry->path()))
          return error() << "expects to replace '" << entry->path()
                         << "' of an earlier job, got " << kept.message();
    }
    return success();
  }

  void emitProgram(const Program &program) {
    RankArenas &arenas = ranks[program.rank];
    unsigned workspace = arenas.indexOf("workspace");
    unsigned constants = arenas.indexOf("constants");
    ProgramStorage storage = planStorage(
        program,
        [&](BindingAttr binding, bool isResult) {
          return placeOf(programs, ranks, program, binding, isResult);
        },
        [&](ConstantOp op) {
          return Place{constants, pools[program.rank].add(op.getValue()),
                       bytesOf(op.getType()), false};
        },
        workspace, program.name == "predict" ? outputsEnd[program.rank] : 0);
    int64_t &stride = arenas.arenas[workspace].stride;
    stride = std::max(stride, storage.workspaceBytes);
    keepOutputs(program, storage);
    measure(program, storage);
    CommandList list(kernels, groups, storage.places);
    for (Operation &op : func::FuncOp(program.function).getBody().front()) {
      for (const ProgramStorage::Copy &copy : storage.copies)
        if (copy.before == &op)
          list.appendCopy(op.getLoc(), copy.from, copy.to);
      if (auto command = dyn_cast<CommandOpInterface>(op))
        command.appendCommands(list);
    }
    std::vector<Command> commands = mergeCommands(std::move(list.commands));
    report.commands += commands.size();
    lists[{program.chunk, program.rank}][program.name] =
        programToJson(commands);
  }

  /// Predicting programs of later chunks work behind the outputs of earlier
  /// ones. Training needs no outputs: it has the memory for other things.
  void keepOutputs(const Program &program, const ProgramStorage &storage) {
    int64_t &end = outputsEnd[program.rank];
    for (const auto &[result, place] : storage.outputs) {
      ranks[program.rank].place(
          nameOf(program.result(result), program.chunk, true), place);
      end = std::max(end, memory::alignUp(place.offset + place.bytes, 256));
    }
  }

  void measure(const Program &program, const ProgramStorage &storage) {
    std::map<unsigned, int64_t> &ends =
        extents[func::FuncOp(program.function).getSymName().str()];
    auto reach = [&](const Place &place) {
      if (!place.slotted)
        ends[place.arena] =
            std::max(ends[place.arena],
                     memory::alignUp(place.offset + place.bytes, 256));
    };
    for (const auto &[value, place] : storage.places)
      reach(place);
    for (const ProgramStorage::Copy &copy : storage.copies) {
      reach(copy.from);
      reach(copy.to);
    }
  }

  void placeConstants() {
    for (auto [arenas, pool] : llvm::zip(ranks, pools)) {
      if (pool.bytes().empty())
        continue;
      ArenaInfo &arena = arenas.arenas[arenas.indexOf("constants")];
      arena.stride = pool.bytes().size();
      arena.constants = {constants.size(), pool.bytes().size()};
      constants += pool.bytes();
    }
  }

  LogicalResult writeKernels() {
    target = codegen::hostTarget();
    if (failed(codegen::lowerKernels(kernels.module())) ||
        failed(codegen::writeSharedObject(kernels.module(), target,
                                          path("kernels.so"))))
      return failure();
    auto content = readFile(path("kernels.so"));
    if (!content)
      return error() << content.error().str();
    kernelHash = sha256(*content);
    return success();
  }

  LogicalResult writeLists() {
    inputs = collectInputs(programs, ranks);
    std::vector<std::string> names;
    names.reserve(inputs.size());
    for (const JobInput &input : inputs)
      names.push_back(input.name);
    for (auto [chunk, rank] : llvm::enumerate(programs.rankOfChunk)) {
      int64_t index = chunk;
      if (failed(write("chunk-" + std::to_string(chunk) + ".json",
                       json{{"version", "1.0"},
                            {"chunk", index},
                            {"programs", listsOf(index, rank)}})))
        return failure();
    }
    for (int64_t rank = 0; rank < programs.ranks; ++rank) {
      FailureOr<json> schedules = schedulesToJson(programs, ranks, rank, names);
      if (failed(schedules) ||
          failed(write("rank-" + std::to_string(rank) + ".json",
                       json{{"version", "1.0"},
                            {"rank", rank},
                            {"programs", listsOf(-1, rank)},
                            {"schedules", *schedules}})))
        return failure();
    }
    return success();
  }

  json listsOf(int64_t chunk, int64_t rank) const {
    auto found = lists.find({chunk, rank});
    return found == lists.end() ? json::object() : json(found->second);
  }

  LogicalResult writeManifest() {
    json job = manifest(programs, ranks, inputs, options, constants);
    job["groups"] = groups.toJson();
    job["cpu_features"] = target.features;
    job["kernels"] = {{"file", "kernels.so"},
                      {"symbols", kernels.symbols()},
                      {"sha256", kernelHash}};
    job["hash"] = std::string(64, '0');
    if (failed(write("constants.bin", StringRef(constants))) ||
        failed(write("partition.json", options.partition)) ||
        failed(write("job.json", job)))
      return failure();
    if (failed(proveOrder()))
      return failure();
    auto hash = runtime::hashJobFolder(options.directory);
    if (!hash)
      return error() << hash.error().str();
    job["hash"] = *hash;
    return write("job.json", job);
  }

  /// Reads the job as the runtime will and has its waits checked, so that a
  /// mistake in them is an error here and no wrong number there. A job that
  /// does not pass gets no valid hash and does not start.
  LogicalResult proveOrder() {
    auto job = runtime::readJob(options.directory);
    Status proven = job ? runtime::checkOrder(*job) : Status(job.error());
    if (proven) {
      reportMemory(*job);
      return success();
    }
    InFlightDiagnostic diagnostic = error() << proven.error().message;
    diagnostic.attachNote()
        << "a mistake of the compiler, not of the model: please report it";
    return diagnostic;
  }

  /// What smp-run will say: both have it from the same job.
  void reportMemory(const runtime::Job &job) {
    for (const runtime::RankMemory &rank : job.ranks) {
      MemoryReport memory;
      memory.training = rank.bytes({true, false, false});
      memory.withEvaluation = rank.bytes({true, true, false});
      memory.withGeneration =
          rank.bytes({true, false, /*predict=*/job.data.tokens});
      report.memory.push_back(memory);
    }
  }

  Programs programs;
  const EmitOptions &options;
  codegen::KernelLibrary kernels;
  Groups groups;
  std::vector<RankArenas> ranks;
  std::vector<int64_t> outputsEnd; ///< in the workspace, by rank
  std::vector<ConstantPool> pools;
  Extents extents;
  std::string constants, kernelHash;
  codegen::HostTarget target;
  std::vector<JobInput> inputs;
  std::map<std::pair<int64_t, int64_t>, std::map<std::string, json>> lists;
  EmitReport report;
};

} // namespace

FailureOr<EmitReport> smp::emitJob(ModuleOp module,
                                   const EmitOptions &options) {
  FailureOr<Programs> programs = Programs::collect(module);
  if (failed(programs))
    return failure();
  return JobEmitter(std::move(*programs), options).run();
}

FailureOr<EmitReport> smp::lowerAndEmit(ModuleOp module,
                                        const EmitOptions &options) {
  if (failed(lowerPrograms(module)))
    return failure();
  return emitJob(module, options);
}
