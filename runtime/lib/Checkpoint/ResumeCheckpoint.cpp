//===- ResumeCheckpoint.cpp - Resuming from a partial checkpoint ----------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"
#include <algorithm>
#include <cstring>

using namespace smp;
using namespace smp::runtime;
using nlohmann::json;

static Result<Manifest> readManifest(const std::string &folder) {
  std::string path = folder + "/manifest.json";
  SMP_ASSIGN_OR_RETURN(std::string text, readFile(path));
  SMP_ASSIGN_OR_RETURN(json object, parseJson(text, "'" + path + "'"));
  Result<Manifest> manifest = Manifest::fromJson(object);
  if (!manifest)
    return Error{"'" + path + "' " + manifest.error().message};
  return manifest;
}

static std::string layoutText(int pp, int tp) {
  return "pp " + std::to_string(pp) + ", tp " + std::to_string(tp);
}

/// Whether the checkpoint is one of this model at all.
static Status checkTarget(const std::string &folder,
                          const std::map<std::string, ManifestTensor> &tensors,
                          const LoadTarget &target) {
  auto entry = tensors.find(target.name);
  if (entry == tensors.end())
    return Error{"'" + folder + "' expects a tensor '" + target.name +
                     "', got none",
                 "was it saved by another model or optimizer?"};
  const ManifestTensor &tensor = entry->second;
  if (tensor.shape != target.shape || tensor.type != target.type)
    return Error{"'" + folder + "': tensor '" + target.name + "' expects " +
                     std::string(dataTypeName(target.type)) + " " +
                     shapeString(target.shape) + ", got " +
                     std::string(dataTypeName(tensor.type)) + " " +
                     shapeString(tensor.shape),
                 "was it saved by another model?"};
  return {};
}

/// Nothing that was saved is left behind, but for the state of parameters that
/// are frozen now.
static Status checkNames(const std::string &folder, const Manifest &manifest,
                         const ResumeRequest &request) {
  auto refuse = [&](const std::string &name, const char *whose) {
    return Error{"'" + folder + "' expects tensors of this " + whose +
                     " only, got '" + name + "'",
                 "was it saved by another model or optimizer?"};
  };
  for (const auto &[name, tensor] : manifest.model)
    if (!request.modelNames.empty() && !request.modelNames.contains(name))
      return refuse(name, "model");
  for (const auto &[name, tensor] : manifest.optimizer)
    if (!request.modelNames.empty() && !request.optimizerNames.contains(name) &&
        !request.frozen.contains(name.substr(0, name.rfind('.'))))
      return refuse(name, "optimizer");
  return {};
}

static Status checkTargets(const std::string &folder, const Manifest &manifest,
                           const ResumeRequest &request) {
  SMP_RETURN_IF_ERROR(checkNames(folder, manifest, request));
  for (const LoadTarget &target : request.model)
    SMP_RETURN_IF_ERROR(checkTarget(folder, manifest.model, target));
  for (const LoadTarget &target : request.optimizer)
    SMP_RETURN_IF_ERROR(checkTarget(folder, manifest.optimizer, target));
  return {};
}

namespace {
/// The files of one checkpoint, opened as tensors ask for them.
class TensorReader {
public:
  TensorReader(const std::string &folder, const Manifest &manifest)
      : folder(folder), manifest(manifest) {}

  /// Copies one tensor out of the file that has it.
  Status load(const ManifestTensor &tensor, const LoadTarget &target) {
    auto file = files.find(tensor.file);
    if (file == files.end()) {
      SMP_ASSIGN_OR_RETURN(
          CheckedFile opened,
          CheckedFile::open(folder + "/" + tensor.file,
                            manifest.files.find(tensor.file)->second));
      file = files.emplace(tensor.file, std::move(opened)).first;
    }
    SMP_ASSIGN_OR_RETURN(const TensorView *view,
                         file->second.verified(target.name));
    if (view->shape != target.shape || view->type != target.type)
      return Error{"damaged file '" + folder + "/" + tensor.file +
                   "': tensor '" + target.name +
                   "' expects the shape in the manifest, got " +
                   shapeString(view->shape)};
    if (!view->data.empty())
      std::memcpy(target.data, view->data.data(), view->data.size());
    return {};
  }

private:
  const std::string &folder;
  const Manifest &manifest;
  std::map<std::string, CheckedFile> files;
};
} // namespace

static Status loadTargets(const std::string &folder, const Manifest &manifest,
                          const ResumeRequest &request) {
  TensorReader reader(folder, manifest);
  for (const LoadTarget &target : request.model)
    SMP_RETURN_IF_ERROR(
        reader.load(manifest.model.find(target.name)->second, target));
  for (const LoadTarget &target : request.optimizer)
    SMP_RETURN_IF_ERROR(
        reader.load(manifest.optimizer.find(target.name)->second, target));
  return {};
}

namespace {
/// What became of an attempt on this rank, or of the worst rank.
enum class Outcome { Good, Damaged, Refused };
} // namespace

/// Collects the outcomes: the worst one counts, with the first text of it.
static Result<std::pair<Outcome, Error>> agreeOnOutcome(Comm &comm, Outcome own,
                                                        const Error &error) {
  json text = {static_cast<int>(own), error.message, error.note};
  SMP_ASSIGN_OR_RETURN(
      std::vector<std::string> all,
      comm.allGatherObjects(
          comm.world(),
          text.dump(-1, ' ', false, json::error_handler_t::replace)));
  std::pair<Outcome, Error> worst{Outcome::Good, {}};
  for (const std::string &one : all) {
    SMP_ASSIGN_OR_RETURN(json parsed, parseJson(one, "an outcome"));
    auto outcome = static_cast<Outcome>(parsed[0].get<int>());
    if (outcome > worst.first)
      worst = {outcome, Error{parsed[1].get<std::string>(),
                              parsed[2].get<std::string>()}};
  }
  return worst;
}

/// Tries one checkpoint on this rank. A difference that no older checkpoint
/// would mend (layout, model) is Refused.
static Outcome attempt(const Grid &grid, const std::string &folder,
                       const ResumeRequest &request, Resumed &resumed,
                       Error &error) {
  Result<Manifest> manifest = readManifest(folder);
  if (!manifest) {
    error = manifest.error();
    return Outcome::Damaged;
  }
  if (manifest->pp != grid.pp() || manifest->tp != grid.tp()) {
    error = Error{"'" + folder + "' expects the layout it was saved with, " +
                      layoutText(manifest->pp, manifest->tp) + ", got " +
                      layoutText(grid.pp(), grid.tp()),
                  "loading into another layout is not built yet"};
    return Outcome::Refused;
  }
  if (Status status = checkTargets(folder, *manifest, request); !status) {
    error = status.error();
    return Outcome::Refused;
  }
  if (Status status = loadTargets(folder, *manifest, request); !status) {
    error = status.error();
    return Outcome::Damaged;
  }
  resumed.progress = manifest->progress;
  for (auto [name, text] :
       {std::pair("partition.json", &resumed.plan),
        std::pair("user_content.json", &resumed.userContent)}) {
    Result<std::string> content = readFile(folder + "/" + name);
    if (!content) {
      error = content.error();
      return Outcome::Damaged;
    }
    *text = content->substr(0, content->find_last_not_of('\n') + 1);
  }
  return Outcome::Good;
}

/// The tags to try, best first: rank 0 decides for all.
static Result<std::vector<std::string>>
candidates(Comm &comm, const ResumeRequest &request,
           std::vector<std::string> &notes) {
  std::vector<std::string> tags;
  if (comm.rank() == 0 && !request.tag.empty())
    tags = {request.tag};
  if (comm.rank() == 0 && request.tag.empty()) {
    tags = partialTags(request.directory);
    std::string newest = readNewest(request.directory)["partial"];
    auto found = std::ranges::find(tags, newest);
    if (found != tags.end())
      std::rotate(tags.begin(), found, found + 1);
    notes = passedOver(request.directory);
  }
  SMP_ASSIGN_OR_RETURN(
      std::string text,
      comm.broadcastObject(comm.world(), json(tags).dump(), 0));
  SMP_ASSIGN_OR_RETURN(json list, parseJson(text, "the tags"));
  if (list.empty())
    return Error{"'" + request.directory +
                     "' expects a partial checkpoint, got none",
                 "leave out --resume to start from the beginning"};
  return list.get<std::vector<std::string>>();
}

Result<Resumed> runtime::resumeCheckpoint(Comm &comm, const Grid &grid,
                                          const ResumeRequest &request) {
  // Of what was passed over rank 0 tells; of what was tried, all ranks.
  std::vector<std::string> notes, damages;
  SMP_ASSIGN_OR_RETURN(std::vector<std::string> tags,
                       candidates(comm, request, notes));
  for (const std::string &tag : tags) {
    Resumed resumed;
    resumed.tag = tag;
    Error error;
    Outcome own = attempt(grid, request.directory + "/" + partialName(tag),
                          request, resumed, error);
    SMP_ASSIGN_OR_RETURN(auto worst, agreeOnOutcome(comm, own, error));
    if (worst.first == Outcome::Good) {
      notes.insert(notes.end(), damages.begin(), damages.end());
      resumed.notes = std::move(notes);
      return resumed;
    }
    if (worst.first == Outcome::Refused)
      return worst.second;
    damages.push_back(worst.second.message);
  }
  std::string all;
  for (const std::string &damage : damages)
    all += (all.empty() ? "" : "; ") + damage;
  return Error{"'" + request.directory +
                   "' expects a good partial checkpoint, got " +
                   std::to_string(damages.size()) + " damaged",
               all};
}
