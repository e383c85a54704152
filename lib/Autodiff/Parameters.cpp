//===- Parameters.cpp - Parameters by any of their names ------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parameters.h"

using namespace mlir;
using namespace smp;

ParameterTable::ParameterTable(ModuleOp module) {
  for (auto parameter : module.getOps<ParameterOp>()) {
    all.push_back(parameter);
    byName[parameter.getSymName()] = parameter;
    for (auto alias : parameter.getAliases().getAsRange<StringAttr>())
      byName[alias.getValue()] = parameter;
  }
}
