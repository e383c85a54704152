//===- SaveCheckpoint.cpp - Saving a partial checkpoint -------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>

using namespace smp;
using namespace smp::runtime;
namespace fs = std::filesystem;
using nlohmann::json;

/// Rank errors travel as text: a failure anywhere is a failure everywhere, so
/// that no rank goes on with a checkpoint that another one lacks.
static Status agree(Comm &comm, const Status &own) {
  SMP_ASSIGN_OR_RETURN(
      std::vector<std::string> errors,
      comm.allGatherObjects(comm.world(), own ? "" : own.error().message));
  if (!own)
    return own;
  for (const std::string &error : errors)
    if (!error.empty())
      return Error{error};
  return {};
}

static Error fileSystemError(const char *verb, const std::string &path,
                             const std::error_code &code) {
  return Error{std::string("cannot ") + verb + " '" + path +
               "': " + code.message()};
}

/// A tag is part of file names.
static Status checkTag(const std::string &tag) {
  if (tag.empty() || tag.front() == '.' || tag.find('/') != std::string::npos)
    return Error{"a checkpoint expects a tag without '/', got '" + tag + "'"};
  return {};
}

static Status makeStaging(const std::string &staging) {
  std::error_code code;
  fs::remove_all(staging, code); // left by a crash
  if (!fs::create_directories(staging, code))
    return fileSystemError("create", staging, code);
  return {};
}

/// Writes one file of this rank and describes it for the manifest.
static Status writePart(const std::string &folder, const std::string &name,
                        const std::vector<TensorView> &tensors,
                        std::map<std::string, ManifestTensor> &entries,
                        Manifest &manifest) {
  std::string path = folder + "/" + name;
  SMP_RETURN_IF_ERROR(writeSafetensors(path, tensors, {}, true));
  SMP_ASSIGN_OR_RETURN(MappedFile written, MappedFile::open(path));
  manifest.files[name] = describeFile(written.bytes());
  for (const TensorView &tensor : tensors) {
    ManifestTensor entry{name, tensor.type, tensor.shape, {}};
    for (int64_t size : tensor.shape)
      entry.slice.emplace_back(0, size);
    entries[tensor.name] = std::move(entry);
  }
  return {};
}

/// What this rank contributes: nothing unless it is in the first replica.
static Status writeParts(const Grid &grid, int rank, const std::string &folder,
                         const SaveRequest &request, Manifest &manifest) {
  if (grid.rdpRank(rank) != 0)
    return {};
  int mp = grid.mpRank(rank);
  SMP_RETURN_IF_ERROR(writePart(folder, modelFileName(mp), request.model,
                                manifest.model, manifest));
  return writePart(folder, optimizerFileName(mp), request.optimizer,
                   manifest.optimizer, manifest);
}

/// Joins the ranks' parts; a tensor that two of them wrote is a mistake.
static Status mergeParts(const std::vector<std::string> &parts,
                         Manifest &manifest) {
  for (const std::string &text : parts) {
    SMP_ASSIGN_OR_RETURN(json object, parseJson(text, "a rank's manifest"));
    SMP_ASSIGN_OR_RETURN(Manifest part, Manifest::fromJson(object));
    manifest.files.merge(part.files);
    manifest.model.merge(part.model);
    manifest.optimizer.merge(part.optimizer);
    for (const auto *left : {&part.model, &part.optimizer})
      if (!left->empty())
        return Error{"expects every tensor to be saved by one rank, got '" +
                     left->begin()->first + "' twice"};
  }
  return {};
}

/// Removes the oldest partials beyond `keep`, never `tag`.
static void removeOld(const std::string &directory, const std::string &tag,
                      int keep) {
  if (keep <= 0)
    return;
  int kept = 1;
  for (const std::string &old : partialTags(directory)) {
    if (old == tag || ++kept <= keep)
      continue;
    std::error_code ignored;
    fs::remove_all(directory + "/" + partialName(old), ignored);
  }
}

/// Renames `staging` to `final`. One that has this name already is exchanged in
/// the same instant, so that a crash leaves either the old or the new one.
static Status moveIntoPlace(const std::string &staging,
                            const std::string &final) {
  std::error_code code;
  bool exchange = fs::exists(final, code);
  if (renameat2(AT_FDCWD, staging.c_str(), AT_FDCWD, final.c_str(),
                exchange ? RENAME_EXCHANGE : RENAME_NOREPLACE) != 0)
    return Error{"cannot rename '" + staging + "' to '" + final +
                 "': " + std::strerror(errno)};
  if (exchange)
    fs::remove_all(staging, code);
  return {};
}

/// On rank 0: everything else is written and synced; makes it a checkpoint.
static Status commit(const SaveRequest &request, const std::string &staging,
                     const Manifest &manifest) {
  const std::pair<const char *, std::string> texts[] = {
      {"partition.json", request.plan},
      {"user_content.json", request.userContent},
      {"manifest.json", manifest.toJson().dump(1)}};
  for (const auto &[name, content] : texts)
    SMP_RETURN_IF_ERROR(
        writeFileAtomically(staging + "/" + name, content + "\n", true));
  SMP_RETURN_IF_ERROR(syncDirectory(staging));
  SMP_RETURN_IF_ERROR(moveIntoPlace(staging, request.directory + "/" +
                                                 partialName(request.tag)));
  SMP_RETURN_IF_ERROR(syncDirectory(request.directory));
  SMP_RETURN_IF_ERROR(writeNewest(request.directory, "partial", request.tag));
  removeOld(request.directory, request.tag, request.keep);
  return {};
}

static Status saveTo(const std::string &staging, Comm &comm, const Grid &grid,
                     const SaveRequest &request) {
  Status made;
  if (comm.rank() == 0)
    made = makeStaging(staging);
  SMP_RETURN_IF_ERROR(agree(comm, made));
  Manifest manifest;
  manifest.pp = grid.pp();
  manifest.tp = grid.tp();
  manifest.rdp = grid.rdp();
  manifest.placement = grid.placement();
  manifest.progress = request.progress;
  SMP_RETURN_IF_ERROR(
      agree(comm, writeParts(grid, comm.rank(), staging, request, manifest)));
  SMP_ASSIGN_OR_RETURN(
      std::vector<std::string> parts,
      comm.allGatherObjects(comm.world(), manifest.toJson().dump()));
  Status committed;
  if (comm.rank() == 0) {
    manifest.files.clear();
    manifest.model.clear();
    manifest.optimizer.clear();
    committed = mergeParts(parts, manifest);
    if (committed)
      committed = commit(request, staging, manifest);
  }
  return agree(comm, committed);
}

Status runtime::saveCheckpoint(Comm &comm, const Grid &grid,
                               const SaveRequest &request) {
  SMP_RETURN_IF_ERROR(checkTag(request.tag));
  std::string staging = request.directory + "/.saving-" + request.tag;
  Status saved = saveTo(staging, comm, grid, request);
  // The half of a checkpoint would only fill a disk that is full already.
  if (std::error_code ignored; !saved && comm.rank() == 0)
    fs::remove_all(staging, ignored);
  return saved;
}
