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
#include <cstring>
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
  Result<Resumed> resumed = resumeCheckpoint(theComm, *theGrid, request);
  SMP_RETURN_IF_ERROR(
      agree(theComm, resumed ? Status() : Status(resumed.error())));
  return resumed;
}

/// Sends the tensors of a stage to rank 0, as one safetensors text.
static std::string packTensors(const std::vector<TensorView> &tensors) {
  std::string text = safetensorsHeader(tensors, {});
  for (const TensorView &tensor : tensors)
    text.append(reinterpret_cast<const char *>(tensor.data.data()),
                tensor.data.size());
  return text;
}

Status Session::dumpParameters(const std::string &path) {
  std::vector<TensorView> model, optimizer;
  collectTensors(model, optimizer);
  bool first = coordinate.rdp == 0 && coordinate.tp == 0;
  Status status;
  if (theComm.rank() != 0) {
    if (first && coordinate.pp != theGrid->ppRank(0))
      status = theComm.sendObject(0, packTensors(model));
    return status ? agree(theComm, status) : status;
  }
  std::vector<std::string> names;
  std::vector<SafetensorsFile> parts;
  for (int pp = 0; pp < theGrid->pp(); ++pp) {
    if (pp == theGrid->ppRank(0))
      continue;
    Coordinate other{pp, 0, 0};
    SMP_ASSIGN_OR_RETURN(std::string text,
                         theComm.receiveObject(theGrid->rank(other)));
    names.push_back(path + ".part" + std::to_string(pp));
    SMP_RETURN_IF_ERROR(writeFileAtomically(names.back(), text));
    auto part = SafetensorsFile::open(names.back());
    std::remove(names.back().c_str());
    if (!part)
      return agree(theComm, part.error());
    parts.push_back(std::move(*part));
    for (const TensorView &tensor : parts.back().tensors())
      model.push_back(tensor);
  }
  return agree(theComm, writeSafetensors(path, model));
}
