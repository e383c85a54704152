//===- SharedMemory.cpp - Tensors that are one memory ---------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedMemory.h"
#include "TensorViews.h"

using namespace smp;
using namespace smp::pt2;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

const TensorMeta &SharedMemory::metaOf(const std::string &name) const {
  static const TensorMeta unknown;
  auto found = metas.find(name);
  return found == metas.end() ? unknown : found->second;
}

std::string SharedMemory::own(const std::string &name) const {
  auto alias = aliases.find(name);
  return alias == aliases.end() ? name : alias->second;
}

void SharedMemory::addAlias(const std::string &result,
                            const std::string &name) {
  aliases[result] = own(name);
}

std::string SharedMemory::fresh(const std::string &name) {
  return fresh(name, metaOf(name).type);
}

std::string SharedMemory::fresh(const std::string &name,
                                std::optional<DataType> type) {
  // No name of Python holds such a character.
  std::string result =
      name.substr(0, name.find('\'')) + "'" + std::to_string(++count);
  TensorMeta meta = metaOf(name);
  meta.type = type;
  metas[result] = std::move(meta);
  return result;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

void SharedMemory::addRoot(const std::string &name, Storage storage) {
  storage.group = storages.size();
  tensors[name] = SharedTensor{name, 0, storages.size(), nullptr, 0};
  storages.push_back(std::move(storage));
}

SharedTensor &SharedMemory::tensor(const std::string &name) {
  std::string key = own(name);
  if (!tensors.contains(key))
    addRoot(key, Storage());
  return tensors[key];
}

void SharedMemory::joinGroups(const std::vector<std::string> &names) {
  size_t group = storageOf(names.front()).group;
  for (const std::string &name : names)
    if (size_t joined = storageOf(name).group; joined != group)
      for (Storage &storage : storages)
        if (storage.group == joined)
          storage.group = group;
}

void SharedMemory::addResults(const Node &raw, const Node &functional) {
  Sharing sharing = sharingOf(raw, metas);
  const Argument *viewed = viewedArgument(raw);
  std::shared_ptr<const ViewOf> view;
  if (sharing == Sharing::View)
    view = std::make_shared<ViewOf>(
        ViewOf{functional, own(viewed->tensors.front())});
  for (size_t i = 0; i < raw.outputs.size(); ++i) {
    const std::string &name = raw.outputs[i];
    if (name.empty())
      continue;
    if (view) {
      const SharedTensor &base = tensor(view->base);
      tensors[name] = SharedTensor{name, base.version, base.storage, view, i};
      continue;
    }
    Storage storage;
    storage.gradientFree = raw.gradientFree;
    addRoot(name, storage);
    if (sharing == Sharing::Unknown) {
      std::vector<std::string> sharers = viewed->tensors;
      sharers.push_back(name);
      joinGroups(sharers);
    }
  }
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Makes a view again, after its memory was changed in another way; all results
/// of its node at once.
void SharedMemory::remake(const SharedTensor &tensor) {
  std::shared_ptr<const ViewOf> view = tensor.view;
  Node node = view->node;
  node.arguments.front().tensors = {read(view->base)};
  size_t version = storages[tensor.storage].version;
  for (std::string &output : node.outputs) {
    if (output.empty())
      continue;
    std::string value = fresh(output);
    auto sibling = tensors.find(output);
    if (sibling != tensors.end() && sibling->second.view == view &&
        sibling->second.version != version) {
      sibling->second.value = value;
      sibling->second.version = version;
    }
    output = value;
  }
  emit(std::move(node));
}

std::string SharedMemory::read(const std::string &name) {
  if (name.empty())
    return name;
  SharedTensor &read = tensor(name);
  const Storage &storage = storages[read.storage];
  if (problem.empty())
    problem = storage.lost;
  if (read.version != storage.version && read.view)
    remake(read);
  return read.value;
}

void SharedMemory::readArguments(Node &node) {
  for (Argument &argument : node.arguments)
    for (std::string &name : argument.tensors)
      name = read(name);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

bool SharedMemory::writeToBase(const SharedTensor &tensor,
                               const std::string &value, const Node &cause) {
  const ViewOf &view = *tensor.view;
  std::string base = read(view.base);
  std::optional<Node> back =
      writeBack(view.node, tensor.result, base, metaOf(base), value, metas);
  if (!back) {
    if (problem.empty())
      problem = "that changes a tensor through '" + view.node.target + "'";
    return false;
  }
  back->outputs = {fresh(base)};
  back->scope = cause.scope;
  back->file = cause.file;
  back->line = cause.line;
  std::string written = back->outputs.front();
  emit(std::move(*back));
  setValue(view.base, written, cause);
  return true;
}

void SharedMemory::setValue(const std::string &name, const std::string &value,
                            const Node &cause) {
  SharedTensor &written = tensor(name);
  if (!written.view)
    ++storages[written.storage].version;
  else if (!writeToBase(written, value, cause))
    return;
  written.value = value;
  written.version = storages[written.storage].version;
}

void SharedMemory::write(const std::string &name, const std::string &value,
                         const Node &cause) {
  setValue(name, value, cause);
  size_t changed = tensor(name).storage;
  for (size_t i = 0; i < storages.size(); ++i)
    if (i != changed && storages[i].group == storages[changed].group)
      storages[i].lost = "of a tensor whose memory may be what '" +
                         cause.target + "' has changed";
}
