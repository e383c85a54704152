//===- Pt2Archive.cpp - A .pt2 file ---------------------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Import/Pt2Archive.h"
#include "Functionalize.h"
#include "InlineRegions.h"
#include "JsonReader.h"
#include <cstring>

using namespace smp;
using namespace smp::pt2;
using Json = JsonReader::Json;

bool StoredTensor::isContiguous() const {
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != expected)
      return false;
    expected *= shape[i];
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

namespace {

std::vector<int64_t> readSizes(JsonReader &json, const Json &meta,
                               const char *key) {
  std::vector<int64_t> sizes;
  for (const Json &size : json.list(meta, key)) {
    sizes.push_back(json.integer(size, "as_int"));
    if (sizes.back() < 0)
      json.expects("sizes and strides of at least 0", size);
  }
  return sizes;
}

StoredTensor readStored(JsonReader &json, const std::string &name,
                        const Json &entry) {
  StoredTensor tensor;
  if (json.flag(entry, "use_pickle", false))
    json.fail("expects '" + name + "' as raw bytes, got a pickle");
  const Json &meta = json.object(entry, "tensor_meta");
  std::optional<DataType> type =
      JsonReader::scalarType(json.integer(meta, "dtype"));
  if (!type)
    json.fail("expects '" + name +
              "' of type f64, f32, bf16, f16, i64, i32 or bool, got "
              "scalar type " +
              std::to_string(json.integer(meta, "dtype")));
  tensor.type = type.value_or(DataType::F32);
  tensor.shape = readSizes(json, meta, "sizes");
  tensor.strides = readSizes(json, meta, "strides");
  if (tensor.shape.size() != tensor.strides.size())
    json.fail("expects '" + name + "' to have as many strides as sizes");
  tensor.offset = json.integer(json.object(meta, "storage_offset"), "as_int");
  tensor.trainable = json.flag(meta, "requires_grad", true);
  tensor.member = json.text(entry, "path_name");
  return tensor;
}

/// Whether every element of the tensor lies in a storage of `bytes` bytes.
bool liesIn(const StoredTensor &tensor, size_t bytes) {
  int64_t last = tensor.offset;
  if (last < 0)
    return false;
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    if (tensor.shape[i] == 0)
      return true;
    int64_t reach;
    if (__builtin_mul_overflow(tensor.shape[i] - 1, tensor.strides[i],
                               &reach) ||
        __builtin_add_overflow(last, reach, &last))
      return false;
  }
  return last < static_cast<int64_t>(bytes / byteWidth(tensor.type));
}

} // namespace

Status Pt2Archive::findFolder() {
  constexpr std::string_view kGraph = "models/model.json";
  for (const auto &[name, member] : zip.members()) {
    size_t slash = name.find('/');
    if (slash != name.npos && name.substr(slash + 1) == kGraph) {
      folder = name.substr(0, slash + 1);
      return {};
    }
    if (name.ends_with("serialized_exported_program.json"))
      return Error{"'" + path() +
                       "': expects an archive of torch 2.8 or "
                       "later, got one of an older version",
                   "load it with torch.export.load and save it again with "
                   "torch 2.15, or use smp.export"};
  }
  return Error{"'" + path() +
                   "': expects a graph 'models/model.json', got an "
                   "archive without one",
               "export with smp.export, or save the only model under the name "
               "'model'"};
}

Status Pt2Archive::readGraph(const std::string &name) {
  std::string member = "models/" + name + ".json";
  SMP_ASSIGN_OR_RETURN(std::string_view text, zip.readText(folder + member));
  SMP_ASSIGN_OR_RETURN(
      ExportedGraph graph,
      ExportedGraph::parse(text, "'" + path() + "': " + member));
  inlineRegions(graph);
  functionalize(graph);
  graphs.emplace(name, std::move(graph));
  return {};
}

Status Pt2Archive::readTensors(const std::string &config,
                               const std::string &where, StoredTensors &into) {
  if (!zip.contains(folder + where + config))
    return {};
  SMP_ASSIGN_OR_RETURN(std::string_view text,
                       zip.readText(folder + where + config));
  JsonReader json("'" + path() + "': " + where + config);
  Json root = json.parse(text);
  for (const auto &[name, entry] : json.object(root, "config").items()) {
    StoredTensor tensor = readStored(json, name, entry);
    if (json.error())
      break;
    SMP_RETURN_IF_ERROR(elementCount(tensor.shape, tensor.type));
    tensor.member = folder + where + tensor.member;
    auto member = zip.members().find(tensor.member);
    if (member == zip.members().end())
      return Error{"'" + path() + "': expects a member '" + tensor.member +
                   "' for '" + name + "', got none"};
    size_t bytes = member->second.data.size();
    tensor.hasData = bytes != 0;
    if (tensor.hasData && !liesIn(tensor, bytes))
      return Error{"'" + path() + "': expects '" + name + "' of shape " +
                   shapeString(tensor.shape) + " to lie in its storage, got " +
                   std::to_string(bytes) + " bytes"};
    into.emplace(name, std::move(tensor));
  }
  if (json.error())
    return *json.error();
  return {};
}

Result<Pt2Archive> Pt2Archive::open(const std::string &path) {
  Pt2Archive archive;
  SMP_ASSIGN_OR_RETURN(archive.zip, ZipArchive::open(path));
  SMP_RETURN_IF_ERROR(archive.findFolder());
  const std::string &folder = archive.folder;
  if (archive.zip.contains(folder + "byteorder")) {
    SMP_ASSIGN_OR_RETURN(std::string_view order,
                         archive.zip.readText(folder + "byteorder"));
    if (order != "little")
      return Error{"'" + path + "': expects little-endian weights, got '" +
                   std::string(order.substr(0, 20)) + "'"};
  }
  SMP_RETURN_IF_ERROR(archive.readGraph("model"));
  if (archive.zip.contains(folder + "models/eval.json"))
    SMP_RETURN_IF_ERROR(archive.readGraph("eval"));
  if (archive.zip.contains(folder + "extra/smp.json")) {
    SMP_ASSIGN_OR_RETURN(std::string_view text,
                         archive.zip.readText(folder + "extra/smp.json"));
    SMP_ASSIGN_OR_RETURN(
        archive.about,
        Description::parse(text, "'" + path + "': extra/smp.json"));
  }
  SMP_RETURN_IF_ERROR(archive.readTensors("model_weights_config.json",
                                          "data/weights/", archive.stored));
  SMP_RETURN_IF_ERROR(archive.readTensors("model_constants_config.json",
                                          "data/constants/", archive.fixed));
  return archive;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Result<std::span<const std::byte>>
Pt2Archive::view(const StoredTensor &tensor) const {
  SMP_ASSIGN_OR_RETURN(int64_t count, elementCount(tensor.shape, tensor.type));
  SMP_ASSIGN_OR_RETURN(std::span<const std::byte> storage,
                       zip.read(tensor.member));
  int64_t width = byteWidth(tensor.type);
  if (count == 0)
    return std::span<const std::byte>();
  return storage.subspan(tensor.offset * width, count * width);
}

Result<std::vector<std::byte>>
Pt2Archive::elements(const StoredTensor &tensor) const {
  SMP_ASSIGN_OR_RETURN(int64_t count, elementCount(tensor.shape, tensor.type));
  SMP_ASSIGN_OR_RETURN(std::span<const std::byte> storage,
                       zip.read(tensor.member));
  // A stride of 0 can make much of little; no real weight does.
  int64_t width = byteWidth(tensor.type);
  if (count * width > static_cast<int64_t>(storage.size()))
    return Error{"expects a tensor no larger than its storage of " +
                 std::to_string(storage.size()) + " bytes, got shape " +
                 shapeString(tensor.shape)};
  std::vector<std::byte> result(count * width);
  std::vector<int64_t> place(tensor.shape.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t source = tensor.offset;
    for (size_t dim = 0; dim < place.size(); ++dim)
      source += place[dim] * tensor.strides[dim];
    std::memcpy(result.data() + i * width, storage.data() + source * width,
                width);
    for (size_t dim = place.size(); dim-- > 0;) {
      if (++place[dim] < tensor.shape[dim])
        break;
      place[dim] = 0;
    }
  }
  return result;
}
