//===- Constants.cpp - constants.bin ---------------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Constants.h"
#include "smp/Memory/ArenaPlan.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace smp::emit;

std::string smp::emit::elementBytes(ElementsAttr elements) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    ArrayRef<char> data = resource.getRawHandle().getBlob()->getData();
    return std::string(data.begin(), data.end());
  }
  auto dense = cast<DenseElementsAttr>(elements);
  std::string result;
  if (dense.getElementType().isInteger(1)) {
    for (bool value : dense.getValues<bool>())
      result.push_back(value ? 1 : 0);
    return result;
  }
  ArrayRef<char> data = dense.getRawData();
  int64_t repeats = dense.isSplat() ? dense.getNumElements() : 1;
  for (int64_t i = 0; i < repeats; ++i)
    result.append(data.begin(), data.end());
  return result;
}

int64_t ConstantPool::add(ElementsAttr elements) {
  auto [entry, isNew] = offsets.try_emplace(elements, content.size());
  if (isNew) {
    content += elementBytes(elements);
    content.resize(memory::alignUp(content.size(), 256));
  }
  return entry->second;
}
