//===- CallTree.cpp - Names of a call's arguments -------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CallTree.h"
#include "JsonReader.h"

using namespace smp;
using namespace smp::pt2;
using Json = JsonReader::Json;

/// The names of a node's children where its context lists them, as those of a
/// dict and of the output classes of transformers do.
static std::vector<std::string> keysOf(const Json &tree, size_t count) {
  std::vector<std::string> keys;
  auto context = tree.find("context");
  if (context == tree.end() || !context->is_string())
    return keys;
  Json listed = Json::parse(context->get<std::string>(), nullptr,
                            /*allow_exceptions=*/false);
  if (!listed.is_array() || listed.size() != count)
    return keys;
  for (const Json &key : listed)
    if (key.is_string())
      keys.push_back(key.get<std::string>());
  return keys.size() == count ? keys : std::vector<std::string>();
}

/// Appends the path of every leaf; false when it is no tree.
static bool collect(const Json &tree, const std::string &path,
                    std::vector<std::string> &paths) {
  if (!tree.is_object())
    return false;
  auto type = tree.find("type"), children = tree.find("children_spec");
  if (type == tree.end() || children == tree.end() || !children->is_array())
    return false;
  if (type->is_null()) {
    paths.push_back(path);
    return true;
  }
  std::vector<std::string> keys = keysOf(tree, children->size());
  for (size_t i = 0; i < children->size(); ++i) {
    std::string key = keys.empty() ? std::to_string(i) : keys[i];
    if (!collect((*children)[i], path.empty() ? key : path + "." + key, paths))
      return false;
  }
  return true;
}

/// The arguments of a call are the tree (positional, named).
static std::string inputName(const std::string &path) {
  return path.starts_with("1.") ? path.substr(2) : "";
}

static std::string outputName(const std::string &path) {
  if (path.empty())
    return "output";
  bool position = path.front() >= '0' && path.front() <= '9';
  return position ? "output_" + path : path;
}

std::vector<std::string> smp::pt2::callPaths(std::string_view text,
                                             CallSide side) {
  JsonReader reader("tree");
  Json root = reader.parse(text);
  std::vector<std::string> paths;
  if (!root.is_array() || root.size() != 2 || !collect(root[1], "", paths))
    return {};
  for (std::string &path : paths)
    path = side == CallSide::Inputs ? inputName(path) : outputName(path);
  return paths;
}
