//===- Manifest.cpp - Where every tensor of a checkpoint is ---------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"
#include "smp/Support/Hash.h"
#include <charconv>

using namespace smp;
using namespace smp::runtime;
using nlohmann::json;

static std::string hexadecimal(uint64_t value) {
  char text[17];
  auto [end, code] = std::to_chars(text, text + 16, value, 16);
  return {text, end};
}

static json
tensorsToJson(const std::map<std::string, ManifestTensor> &tensors) {
  json object = json::object();
  for (const auto &[name, tensor] : tensors)
    object[name] = {{"file", tensor.file},
                    {"dtype", dataTypeName(tensor.type)},
                    {"shape", tensor.shape},
                    {"slice", tensor.slice}};
  return object;
}

json Manifest::toJson() const {
  json fileList = json::object();
  for (const auto &[name, file] : files) {
    json hashes = json::array();
    for (uint64_t hash : file.hashes)
      hashes.push_back(hexadecimal(hash));
    fileList[name] = {{"bytes", file.bytes}, {"xxh64", std::move(hashes)}};
  }
  return {{"version", "1.0"},
          {"layout",
           {{"pp", pp}, {"tp", tp}, {"rdp", rdp}, {"placement", placement}}},
          {"progress",
           {{"step", progress.step},
            {"samples", progress.samples},
            {"seed", progress.seed},
            {"skipped", progress.skipped}}},
          {"chunk_bytes", chunkBytes},
          {"files", std::move(fileList)},
          {"model", tensorsToJson(model)},
          {"optimizer", tensorsToJson(optimizer)}};
}

namespace {
/// Reads fields of JSON objects; the first mistake stays.
class Reader {
public:
  explicit operator bool() const { return good; }

  const json &object(const json &from, const char *key) {
    return field(from, key, &json::is_object);
  }
  int64_t integer(const json &from, const char *key) {
    const json &value = field(from, key, &json::is_number_integer);
    return good ? value.get<int64_t>() : 0;
  }
  std::string text(const json &from, const char *key) {
    const json &value = field(from, key, &json::is_string);
    return good ? value.get<std::string>() : std::string();
  }
  std::vector<int64_t> integers(const json &from, const char *key) {
    std::vector<int64_t> result;
    for (const json &value : field(from, key, &json::is_array)) {
      good &= value.is_number_integer();
      result.push_back(good ? value.get<int64_t>() : 0);
    }
    return result;
  }
  const json &field(const json &from, const char *key,
                    bool (json::*is)() const noexcept) {
    static const json none;
    auto found = from.find(key);
    if (from.is_object() && found != from.end() && ((*found).*is)())
      return *found;
    good = false;
    return none;
  }
  void expect(bool condition) { good &= condition; }

private:
  bool good = true;
};
} // namespace

static ManifestFile readFileEntry(Reader &reader, const json &entry) {
  ManifestFile file;
  file.bytes = reader.integer(entry, "bytes");
  for (const json &text : reader.field(entry, "xxh64", &json::is_array)) {
    uint64_t hash = 0;
    if (text.is_string()) {
      const auto &digits = text.get_ref<const std::string &>();
      auto [end, code] = std::from_chars(
          digits.data(), digits.data() + digits.size(), hash, 16);
      reader.expect(code == std::errc());
    }
    reader.expect(text.is_string());
    file.hashes.push_back(hash);
  }
  reader.expect(file.bytes >= 0 &&
                static_cast<int64_t>(file.hashes.size()) ==
                    (file.bytes + chunkBytes - 1) / chunkBytes);
  return file;
}

static ManifestTensor readTensorEntry(Reader &reader, const json &entry) {
  ManifestTensor tensor;
  tensor.file = reader.text(entry, "file");
  tensor.shape = reader.integers(entry, "shape");
  Result<DataType> type = parseDataType(reader.text(entry, "dtype"));
  reader.expect(static_cast<bool>(type));
  if (type)
    tensor.type = *type;
  for (const json &range : reader.field(entry, "slice", &json::is_array)) {
    bool pair = range.is_array() && range.size() == 2 &&
                range[0].is_number_integer() && range[1].is_number_integer();
    reader.expect(pair);
    if (pair)
      tensor.slice.emplace_back(range[0].get<int64_t>(),
                                range[1].get<int64_t>());
  }
  return tensor;
}

Result<Manifest> Manifest::fromJson(const json &json) {
  Reader reader;
  Manifest manifest;
  std::string version = reader.text(json, "version");
  if (reader && !version.starts_with("1."))
    return Error{"expects a checkpoint of version 1, got " + version};
  const auto &layout = reader.object(json, "layout");
  manifest.pp = static_cast<int>(reader.integer(layout, "pp"));
  manifest.tp = static_cast<int>(reader.integer(layout, "tp"));
  manifest.rdp = static_cast<int>(reader.integer(layout, "rdp"));
  manifest.placement = reader.text(layout, "placement");
  const auto &progress = reader.object(json, "progress");
  manifest.progress = {reader.integer(progress, "step"),
                       reader.integer(progress, "samples"),
                       static_cast<uint64_t>(reader.integer(progress, "seed")),
                       reader.integer(progress, "skipped")};
  for (const auto &[name, entry] : reader.object(json, "files").items())
    manifest.files[name] = readFileEntry(reader, entry);
  for (auto [kind, tensors] : {std::pair("model", &manifest.model),
                               std::pair("optimizer", &manifest.optimizer)})
    for (const auto &[name, entry] : reader.object(json, kind).items()) {
      ManifestTensor tensor = readTensorEntry(reader, entry);
      reader.expect(manifest.files.contains(tensor.file));
      (*tensors)[name] = std::move(tensor);
    }
  reader.expect(manifest.progress.step >= 0 &&
                manifest.progress.step <= maxProgress &&
                manifest.progress.skipped >= 0 &&
                manifest.progress.skipped <= manifest.progress.step &&
                manifest.progress.samples >= 0 &&
                manifest.progress.samples <= maxProgress);
  if (!reader)
    return Error{"expects the manifest of a checkpoint, got other content"};
  return manifest;
}

ManifestFile runtime::describeFile(std::span<const std::byte> bytes) {
  ManifestFile file;
  file.bytes = static_cast<int64_t>(bytes.size());
  for (size_t begin = 0; begin < bytes.size(); begin += chunkBytes)
    file.hashes.push_back(
        xxh64(bytes.data() + begin,
              std::min<size_t>(chunkBytes, bytes.size() - begin)));
  return file;
}

Result<CheckedFile> CheckedFile::open(const std::string &path,
                                      const ManifestFile &expected) {
  CheckedFile result;
  result.expected = expected;
  SMP_ASSIGN_OR_RETURN(result.raw, MappedFile::open(path));
  auto bytes = static_cast<int64_t>(result.raw.bytes().size());
  if (bytes != expected.bytes)
    return Error{"damaged file '" + path + "': expects " +
                 std::to_string(expected.bytes) + " bytes, got " +
                 std::to_string(bytes)};
  SMP_ASSIGN_OR_RETURN(result.file, SafetensorsFile::open(path));
  return result;
}

Result<const TensorView *> CheckedFile::verified(const std::string &name) {
  const TensorView *view = file.find(name);
  if (!view)
    return Error{"damaged file '" + file.path() + "': expects tensor '" + name +
                 "', got none"};
  int64_t begin = file.fileOffset(*view);
  int64_t end = begin + static_cast<int64_t>(view->data.size());
  // The header is part of what is read: chunk 0 always counts.
  std::set<int64_t> needed = {0};
  for (int64_t chunk = begin / chunkBytes; chunk * chunkBytes < end; ++chunk)
    needed.insert(chunk);
  for (int64_t chunk : needed) {
    if (!good.insert(chunk).second)
      continue;
    int64_t from = chunk * chunkBytes;
    int64_t length = std::min(chunkBytes, expected.bytes - from);
    if (xxh64(raw.bytes().data() + from, length) != expected.hashes[chunk])
      return Error{"damaged file '" + file.path() + "': tensor '" + name +
                   "' expects the hash " + hexadecimal(expected.hashes[chunk]) +
                   " in bytes [" + std::to_string(from) + ", " +
                   std::to_string(from + length) + "), got another"};
  }
  return view;
}
