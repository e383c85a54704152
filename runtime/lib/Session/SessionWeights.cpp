//===- SessionWeights.cpp - Initial values, checkpoints, dumps ------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Support/MappedFile.h"
#include "smp/runtime/Checkpoint/Weights.h"
#include "smp/runtime/Comm/Liveness.h"
#include "smp/runtime/Session/Session.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>

using namespace smp;
using namespace smp::runtime;

/// Initial values of a parameter that is not read from a file.
static Status fillParameter(const Parameter &parameter, bool reference,
                            uint64_t seed, std::span<float> values) {
  if (reference) {
    initializeReference(parameter.name, int(parameter.shape.size()), 0, values);
    return {};
  }
  if (!parameter.init)
    return Error{"expects an initialiser of parameter '" + parameter.name +
                     "', got none: the export did not recognise how the "
                     "model initialises it",
                 "start from a file: --init=model.safetensors"};
  initialize(*parameter.init, seed, parameter.name, 0, values);
  return {};
}

Status Session::initializeStates() {
  MappedFile constants;
  for (const StateTensor &state : theJob.states) {
    auto it = state.location.find(ppRank());
    if (it == state.location.end())
      continue;
    std::byte *data = arenas->at(it->second);
    int64_t count = it->second.bytes / byteWidth(state.type);
    if (state.init) {
      std::vector<float> values(static_cast<size_t>(count));
      smp::initialize(*state.init, context.seed, state.name, 0, values);
      convertElements(DataType::F32, values.data(), state.type, data, count);
    } else if (state.constants) {
      if (constants.path().empty()) {
        SMP_ASSIGN_OR_RETURN(
            constants, MappedFile::open(theJob.directory + "/constants.bin"));
      }
      auto [offset, bytes] = *state.constants;
      if (offset + bytes > int64_t(constants.bytes().size()))
        return Error{"'" + constants.path() + "': expects " +
                         std::to_string(offset + bytes) + " bytes, got " +
                         std::to_string(constants.bytes().size()),
                     "the job folder is damaged: compile the job again"};
      std::memcpy(data, constants.bytes().data() + offset, size_t(bytes));
    } else if (!state.value.empty()) {
      convertElements(DataType::F64, state.value.data(), state.type, data,
                      count);
    }
  }
  return {};
}

std::vector<LoadTarget> Session::modelTargets() {
  std::vector<LoadTarget> targets;
  for (const Parameter &parameter : theJob.parameters)
    if (auto it = parameter.location.find(ppRank());
        it != parameter.location.end())
      targets.push_back({parameter.name, DataType::F32, parameter.shape,
                         arenas->at(it->second.parameter)});
  for (const StateTensor &state : theJob.states)
    if (auto it = state.location.find(ppRank()); it != state.location.end())
      targets.push_back(
          {state.name, state.type, state.shape, arenas->at(it->second)});
  return targets;
}

std::vector<LoadTarget> Session::optimizerTargets() {
  std::vector<LoadTarget> targets;
  for (const Parameter &parameter : theJob.parameters)
    if (auto it = parameter.location.find(ppRank());
        it != parameter.location.end())
      for (const std::string &state : parameter.optimizer)
        if (auto ref = it->second.optimizer.find(state);
            ref != it->second.optimizer.end())
          targets.push_back({parameter.name + "." + state, DataType::F32,
                             parameter.shape, arenas->at(ref->second)});
  return targets;
}

Status Session::initializeLocally(const std::string &source,
                                  std::vector<std::string> &unused) {
  SMP_RETURN_IF_ERROR(initializeStates());
  bool reference = source == "reference";
  if (reference || source == "random") {
    for (const Parameter &parameter : theJob.parameters) {
      auto it = parameter.location.find(ppRank());
      if (it == parameter.location.end())
        continue;
      const BufferRef &ref = it->second.parameter;
      auto *values = reinterpret_cast<float *>(arenas->at(ref));
      SMP_RETURN_IF_ERROR(fillParameter(parameter, reference, context.seed,
                                        {values, size_t(ref.bytes / 4)}));
    }
    return {};
  }
  std::vector<WeightTarget> targets;
  std::vector<LoadTarget> places = modelTargets();
  for (const LoadTarget &place : places) {
    WeightTarget target{place, {}, false};
    for (const Parameter &parameter : theJob.parameters)
      if (parameter.name == place.name)
        target.aliases = parameter.aliases;
    bool isState =
        std::ranges::any_of(theJob.states, [&](const StateTensor &state) {
          return state.name == place.name;
        });
    // Buffers keep their exported values where a file has parameters only.
    target.optional = isState;
    targets.push_back(std::move(target));
  }
  SMP_ASSIGN_OR_RETURN(unused, loadWeights(source, targets));
  return {};
}

Result<std::vector<std::string>>
Session::initialize(const std::string &source) {
  std::vector<std::string> unused;
  SMP_RETURN_IF_ERROR(agree(theComm, initializeLocally(source, unused)));
  // A rank asks for its own stage only; other stages' names are not unused.
  std::set<std::string> known;
  for (const Parameter &parameter : theJob.parameters) {
    known.insert(parameter.name);
    known.insert(parameter.aliases.begin(), parameter.aliases.end());
  }
  for (const StateTensor &state : theJob.states)
    known.insert(state.name);
  std::erase_if(unused,
                [&](const std::string &name) { return known.count(name); });
  return unused;
}

/// What this rank saves: that of which it is the first holder.
void Session::collectTensors(std::vector<TensorView> &model,
                             std::vector<TensorView> &optimizer) const {
  auto view = [&](const std::string &name, DataType type,
                  const std::vector<int64_t> &shape, const BufferRef &ref) {
    return TensorView{name, type, shape, {arenas->at(ref), size_t(ref.bytes)}};
  };
  for (const Parameter &parameter : theJob.parameters) {
    if (parameter.holders.front() != ppRank())
      continue;
    const ParameterLocation &location = parameter.location.at(ppRank());
    model.push_back(view(parameter.name, DataType::F32, parameter.shape,
                         location.parameter));
    for (const std::string &state : parameter.optimizer)
      optimizer.push_back(view(parameter.name + "." + state, DataType::F32,
                               parameter.shape, location.optimizer.at(state)));
  }
  for (const StateTensor &state : theJob.states)
    if (auto it = state.location.find(ppRank());
        it != state.location.end() && state.holders.front() == ppRank())
      model.push_back(view(state.name, state.type, state.shape, it->second));
}

Status Session::save(const std::string &directory, const Progress &progress) {
  SaveRequest request;
  request.directory = directory;
  request.tag = "step-" + std::to_string(progress.step);
  request.progress = progress;
  setPhase("save of '" + request.tag + "'", progress.step);
  collectTensors(request.model, request.optimizer);
  if (auto plan = readFile(theJob.directory + "/partition.json"))
    request.plan = *plan;
  // Several ranks may have an error of their own, such as a full disk.
  return agree(theComm, saveCheckpoint(theComm, *theGrid, request));
}

Result<Resumed> Session::resume(const std::string &directory) {
  SMP_RETURN_IF_ERROR(agree(theComm, initializeStates()));
  ResumeRequest request;
  request.directory = directory;
  request.model = modelTargets();
  if (phases.train)
    request.optimizer = optimizerTargets();
  for (const StateTensor &state : theJob.states)
    request.modelNames.insert(state.name);
  for (const Parameter &parameter : theJob.parameters) {
    request.modelNames.insert(parameter.name);
    for (const std::string &state : parameter.optimizer)
      request.optimizerNames.insert(parameter.name + "." + state);
    if (!parameter.isTrained())
      request.frozen.insert(parameter.name);
  }
  Result<Resumed> resumed = resumeCheckpoint(theComm, *theGrid, request);
  SMP_RETURN_IF_ERROR(
      agree(theComm, resumed ? Status() : Status(resumed.error())));
  return resumed;
}

/// What a stage sends of its tensors, and rank 0 writes, at a time: a copy of
/// all would be as much memory again as the parameters take.
static constexpr size_t pieceBytes = size_t{1} << 22;

/// Sends the tensors of a stage to rank 0, as the pieces of a safetensors file
/// and an empty one.
static Status sendTensors(Comm &comm, const std::vector<TensorView> &tensors) {
  SMP_RETURN_IF_ERROR(comm.sendObject(0, safetensorsHeader(tensors, {})));
  for (const TensorView &tensor : tensors)
    for (size_t at = 0; at < tensor.data.size(); at += pieceBytes) {
      auto piece = tensor.data.subspan(
          at, std::min(pieceBytes, tensor.data.size() - at));
      SMP_RETURN_IF_ERROR(comm.sendObject(
          0, {reinterpret_cast<const char *>(piece.data()), piece.size()}));
    }
  return comm.sendObject(0, "");
}

/// Writes what a stage sends to a file. All of it is received even where it
/// cannot be written, since the stage waits for that.
static Result<Status> receiveTensors(Comm &comm, int peer,
                                     const std::string &path) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  Status written;
  while (true) {
    SMP_ASSIGN_OR_RETURN(std::string piece, comm.receiveObject(peer));
    if (piece.empty())
      file.close();
    else
      file.write(piece.data(), std::streamsize(piece.size()));
    if (!file && written)
      written = Error{"cannot write '" + path + "': " + std::strerror(errno)};
    if (piece.empty())
      return written;
  }
}

/// On rank 0: the tensors of the other stages, in files that have no name any
/// more. An error is one of the connection; the status is that of the files.
Result<Status> Session::receiveStages(const std::string &path,
                                      std::vector<SafetensorsFile> &parts) {
  Status status;
  for (int pp = 0; pp < theGrid->pp(); ++pp) {
    if (pp == theGrid->ppRank(0))
      continue;
    std::string name = path + ".part" + std::to_string(pp);
    SMP_ASSIGN_OR_RETURN(
        Status written,
        receiveTensors(theComm, theGrid->rank(Coordinate{pp, 0, 0}), name));
    if (written && status) {
      auto part = SafetensorsFile::open(name);
      if (part)
        parts.push_back(std::move(*part));
      else
        written = part.error();
    }
    std::remove(name.c_str());
    if (status)
      status = written;
  }
  return status;
}

Status Session::dumpParameters(const std::string &path) {
  std::vector<TensorView> model, optimizer;
  collectTensors(model, optimizer);
  if (theComm.rank() != 0) {
    bool first = coordinate.rdp == 0 && coordinate.tp == 0;
    if (first && coordinate.pp != theGrid->ppRank(0))
      SMP_RETURN_IF_ERROR(sendTensors(theComm, model));
    return agree(theComm, Status());
  }
  std::vector<SafetensorsFile> parts;
  SMP_ASSIGN_OR_RETURN(Status status, receiveStages(path, parts));
  for (const SafetensorsFile &part : parts)
    model.insert(model.end(), part.tensors().begin(), part.tensors().end());
  return agree(theComm, status ? writeSafetensors(path, model) : status);
}
