//===- Safetensors.cpp - Files of named tensors ---------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Support/Safetensors.h"
#include "smp/Support/Json.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace smp;
using nlohmann::json;

/// What the format allows at most for the JSON header.
static constexpr uint64_t maxHeaderBytes = 100'000'000;

template <typename T>
static std::vector<T> convert(const TensorView &view, DataType type) {
  std::vector<T> values(view.elements());
  convertElements(view.type, view.data.data(), type, values.data(),
                  view.elements());
  return values;
}

std::vector<double> TensorView::toF64() const {
  return convert<double>(*this, DataType::F64);
}
std::vector<float> TensorView::toF32() const {
  return convert<float>(*this, DataType::F32);
}
std::vector<int64_t> TensorView::toI64() const {
  return convert<int64_t>(*this, DataType::I64);
}

/// A list of integers in [0, 2^63), or nothing.
static bool readIntegers(const json &entry, const char *key,
                         std::vector<int64_t> &values) {
  auto list = entry.find(key);
  if (list == entry.end() || !list->is_array())
    return false;
  for (const json &value : *list) {
    if (!value.is_number_integer() ||
        (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX))
      return false;
    values.push_back(value.get<int64_t>());
    if (values.back() < 0)
      return false;
  }
  return true;
}

/// Reads one entry of the header; `data` is the part after the header.
static Result<TensorView> readEntry(const std::string &name, const json &entry,
                                    std::span<const std::byte> data) {
  TensorView view;
  view.name = name;
  std::vector<int64_t> offsets;
  auto type = entry.find("dtype");
  if (!entry.is_object() || type == entry.end() || !type->is_string() ||
      !readIntegers(entry, "shape", view.shape) ||
      !readIntegers(entry, "data_offsets", offsets) || offsets.size() != 2)
    return Error{"expects dtype, shape and two data_offsets, got " +
                 shortText(entry)};
  SMP_ASSIGN_OR_RETURN(view.type,
                       parseSafetensorsName(type->get<std::string>()));
  SMP_ASSIGN_OR_RETURN(int64_t elements, elementCount(view.shape, view.type));
  int64_t begin = offsets[0], end = offsets[1];
  if (begin > end || end > static_cast<int64_t>(data.size()))
    return Error{"expects offsets within the " + std::to_string(data.size()) +
                 " bytes of data, got [" + std::to_string(begin) + ", " +
                 std::to_string(end) + ")"};
  if (end - begin != elements * byteWidth(view.type))
    return Error{"expects " + std::to_string(elements * byteWidth(view.type)) +
                 " bytes for " + std::string(dataTypeName(view.type)) + " " +
                 shapeString(view.shape) + ", got " +
                 std::to_string(end - begin)};
  view.data = data.subspan(begin, end - begin);
  return view;
}

static Status readMetadata(const json &entry, SafetensorsMetadata &metadata) {
  if (!entry.is_object())
    return Error{"expects '__metadata__' to be an object of strings"};
  for (const auto &[key, value] : entry.items()) {
    if (!value.is_string())
      return Error{"expects '__metadata__' to be an object of strings, got "
                   "another value for '" +
                   key + "'"};
    metadata[key] = value.get<std::string>();
  }
  return {};
}

Result<SafetensorsFile> SafetensorsFile::open(const std::string &path) {
  SafetensorsFile result;
  SMP_ASSIGN_OR_RETURN(result.file, MappedFile::open(path));
  std::span<const std::byte> bytes = result.file.bytes();
  auto malformed = [&](const std::string &why) {
    return Error{"malformed safetensors file '" + path + "': " + why,
                 "the file may be truncated or of another format"};
  };
  uint64_t headerBytes = 0;
  if (bytes.size() < sizeof headerBytes)
    return malformed("expects at least 8 bytes, got " +
                     std::to_string(bytes.size()));
  std::memcpy(&headerBytes, bytes.data(), sizeof headerBytes);
  if (headerBytes > maxHeaderBytes || headerBytes > bytes.size() - 8)
    return malformed("expects a header within the file's " +
                     std::to_string(bytes.size()) + " bytes, got a size of " +
                     std::to_string(headerBytes));
  std::string_view text = result.file.text().substr(8, headerBytes);
  Result<json> parsed = parseJson(text, "the header");
  if (!parsed)
    return malformed(parsed.error().message);
  json header = std::move(*parsed);
  if (!header.is_object())
    return malformed("the header expects an object, got " + shortText(header));
  std::span<const std::byte> data = bytes.subspan(8 + headerBytes);
  for (const auto &[name, entry] : header.items()) {
    if (name == "__metadata__") {
      if (Status status = readMetadata(entry, result.meta); !status)
        return malformed(status.error().message);
      continue;
    }
    Result<TensorView> view = readEntry(name, entry, data);
    if (!view)
      return malformed("tensor '" + name + "': " + view.error().message);
    result.views.push_back(std::move(*view));
  }
  std::ranges::sort(result.views, [](const TensorView &a, const TensorView &b) {
    return std::pair(a.data.data(), std::string_view(a.name)) <
           std::pair(b.data.data(), std::string_view(b.name));
  });
  const std::byte *end = nullptr;
  for (const TensorView &view : result.views) {
    if (view.data.empty())
      continue;
    if (view.data.data() < end)
      return malformed("tensor '" + view.name +
                       "': expects bytes of its own, got some of another "
                       "tensor's");
    end = view.data.data() + view.data.size();
  }
  for (size_t i = 0; i < result.views.size(); ++i)
    result.index[result.views[i].name] = i;
  return result;
}

const TensorView *SafetensorsFile::find(std::string_view name) const {
  auto entry = index.find(name);
  return entry == index.end() ? nullptr : &views[entry->second];
}

std::string smp::safetensorsHeader(const std::vector<TensorView> &tensors,
                                   const SafetensorsMetadata &metadata) {
  json header = json::object();
  if (!metadata.empty())
    header["__metadata__"] = metadata;
  int64_t offset = 0;
  for (const TensorView &tensor : tensors) {
    int64_t end = offset + static_cast<int64_t>(tensor.data.size());
    header[tensor.name] = {{"dtype", safetensorsName(tensor.type)},
                           {"shape", tensor.shape},
                           {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text =
      header.dump(-1, ' ', false, json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  uint64_t size = text.size();
  std::string head(sizeof size, '\0');
  std::memcpy(head.data(), &size, sizeof size);
  return head + text;
}

static Status checkTensors(const std::vector<TensorView> &tensors) {
  std::map<std::string_view, bool> seen;
  for (const TensorView &tensor : tensors) {
    SMP_ASSIGN_OR_RETURN(int64_t elements,
                         elementCount(tensor.shape, tensor.type));
    if (static_cast<size_t>(elements * byteWidth(tensor.type)) !=
        tensor.data.size())
      return Error{"tensor '" + tensor.name + "' expects " +
                   std::to_string(elements * byteWidth(tensor.type)) +
                   " bytes for shape " + shapeString(tensor.shape) + ", got " +
                   std::to_string(tensor.data.size())};
    if (!seen.emplace(tensor.name, true).second)
      return Error{"expects every tensor once, got '" + tensor.name +
                   "' twice"};
  }
  return {};
}

static bool writeAll(int descriptor, const void *data, size_t bytes) {
  const auto *from = static_cast<const char *>(data);
  while (bytes) {
    ssize_t written = write(descriptor, from, std::min<size_t>(bytes, 1 << 30));
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    from += written;
    bytes -= written;
  }
  return true;
}

Status smp::writeSafetensors(const std::string &path,
                             const std::vector<TensorView> &tensors,
                             const SafetensorsMetadata &metadata, bool sync) {
  SMP_RETURN_IF_ERROR(checkTensors(tensors));
  int descriptor =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  auto failure = [&](const char *verb) {
    return Error{std::string("cannot ") + verb + " '" + path +
                 "': " + std::strerror(errno)};
  };
  if (descriptor < 0)
    return failure("create");
  std::string head = safetensorsHeader(tensors, metadata);
  bool good = writeAll(descriptor, head.data(), head.size());
  for (const TensorView &tensor : tensors)
    good = good && writeAll(descriptor, tensor.data.data(), tensor.data.size());
  good = good && (!sync || fsync(descriptor) == 0);
  Error error = failure("write");
  if (close(descriptor) != 0 || !good)
    return error;
  return {};
}
