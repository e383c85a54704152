//===- WriteWeights.cpp - The weights of an archive as safetensors --------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Import/DescribeArchive.h"
#include "smp/Support/Safetensors.h"
#include <list>
#include <set>

using namespace smp;
using namespace smp::pt2;

Result<size_t> smp::pt2::writeWeights(const Pt2Archive &archive,
                                      const std::string &path) {
  std::set<std::string, std::less<>> others;
  for (const std::vector<std::string> &group : aliasGroups(archive))
    others.insert(group.begin() + 1, group.end());
  // Copies of tensors that are not contiguous in their storage; the others are
  // written from the mapped file.
  std::list<std::vector<std::byte>> copies;
  std::vector<TensorView> views;
  for (const auto &[name, tensor] : archive.weights()) {
    if (!tensor.hasData || others.contains(name))
      continue;
    TensorView view{name, tensor.type, tensor.shape, {}};
    if (tensor.isContiguous()) {
      SMP_ASSIGN_OR_RETURN(view.data, archive.view(tensor));
    } else {
      SMP_ASSIGN_OR_RETURN(copies.emplace_back(), archive.elements(tensor));
      view.data = copies.back();
    }
    views.push_back(std::move(view));
  }
  if (views.empty())
    return Error{"'" + archive.path() +
                     "': expects an archive with weights, got one without",
                 "export it with weights=True, or leave --weights out"};
  SMP_RETURN_IF_ERROR(writeSafetensors(path, views));
  return views.size();
}
