//===- Directory.cpp - The folder of checkpoints --------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <sys/file.h>
#include <unistd.h>

using namespace smp;
using namespace smp::runtime;
namespace fs = std::filesystem;
using nlohmann::json;

std::string runtime::partialName(const std::string &tag) {
  return tag + "_partial";
}
std::string runtime::modelFileName(int mp) {
  return "model_" + std::to_string(mp) + ".safetensors";
}
std::string runtime::optimizerFileName(int mp) {
  return "optimizer_" + std::to_string(mp) + ".safetensors";
}

std::map<std::string, std::string>
runtime::readNewest(const std::string &directory) {
  std::map<std::string, std::string> newest;
  Result<std::string> text = readFile(directory + "/newest");
  if (!text)
    return newest;
  Result<json> object = parseJson(*text, "newest");
  if (!object || !object->is_object())
    return newest; // as if it were not there: the folders are asked instead
  for (const auto &[kind, tag] : object->items())
    if (tag.is_string())
      newest[kind] = tag.get<std::string>();
  return newest;
}

Status runtime::writeNewest(const std::string &directory,
                            const std::string &kind, const std::string &tag) {
  json object = readNewest(directory);
  object[kind] = tag;
  SMP_RETURN_IF_ERROR(
      writeFileAtomically(directory + "/newest", object.dump() + "\n", true));
  return syncDirectory(directory);
}

/// The steps of a committed checkpoint, −1 if the folder is none.
static int64_t stepsOf(const std::string &folder) {
  Result<std::string> text = readFile(folder + "/manifest.json");
  if (!text)
    return -1;
  Result<json> object = parseJson(*text, "manifest");
  if (!object)
    return 0;
  Result<Manifest> manifest = Manifest::fromJson(*object);
  return manifest ? manifest->progress.step : 0;
}

std::vector<std::string> runtime::partialTags(const std::string &directory) {
  std::vector<std::pair<int64_t, std::string>> found;
  std::error_code code;
  for (fs::directory_iterator entry(directory, code), end;
       !code && entry != end; entry.increment(code)) {
    std::string name = entry->path().filename().string();
    constexpr std::string_view suffix = "_partial";
    if (!name.ends_with(suffix) || name.size() == suffix.size())
      continue;
    if (int64_t steps = stepsOf(entry->path().string()); steps >= 0)
      found.emplace_back(steps, name.substr(0, name.size() - suffix.size()));
  }
  std::ranges::sort(found, std::greater());
  std::vector<std::string> tags;
  tags.reserve(found.size());
  for (auto &[steps, tag] : found)
    tags.push_back(std::move(tag));
  return tags;
}

bool runtime::hasCheckpoint(const std::string &directory) {
  return !partialTags(directory).empty();
}

std::vector<std::string> runtime::passedOver(const std::string &directory) {
  std::vector<std::string> notes;
  std::error_code code;
  for (fs::directory_iterator entry(directory, code), end;
       !code && entry != end; entry.increment(code)) {
    std::string path = entry->path().string();
    if (path.ends_with("_partial") && stepsOf(path) < 0)
      notes.push_back("'" + path + "' expects a manifest.json, got none");
  }
  std::ranges::sort(notes);
  std::string newest = readNewest(directory)["partial"];
  if (!newest.empty() &&
      !fs::exists(directory + "/" + partialName(newest), code))
    notes.push_back("'" + directory + "/newest' expects a checkpoint '" +
                    newest + "', got none");
  return notes;
}

Result<CheckpointClaim> CheckpointClaim::take(const std::string &directory) {
  std::error_code code;
  fs::create_directories(directory, code);
  auto cannot = [&](const std::string &why) {
    return Error{"option '--checkpoint-dir' expects a folder that can be "
                 "written, got '" +
                 directory + "': " + why};
  };
  if (code)
    return cannot(code.message());
  int descriptor = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return cannot(std::strerror(errno));
  CheckpointClaim claim(descriptor);
  if (access(directory.c_str(), W_OK | X_OK) != 0)
    return cannot(std::strerror(errno));
  // File systems without locks go without the claim.
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return Error{"option '--checkpoint-dir' expects a folder that no other "
                 "run is using, got '" +
                     directory + "'",
                 "name another folder, or wait for that run to end"};
  return claim;
}

CheckpointClaim::~CheckpointClaim() {
  if (descriptor >= 0)
    close(descriptor);
}

Status runtime::syncDirectory(const std::string &path) {
  int descriptor = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bool good = descriptor >= 0 && fsync(descriptor) == 0;
  Error error{"cannot sync '" + path + "': " + std::strerror(errno)};
  if (descriptor >= 0)
    close(descriptor);
  if (!good)
    return error;
  return {};
}
