//===- Print.cpp - Tensors as text ----------------------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Print.h"
#include "llvm/Support/Format.h"

using namespace smp;
using namespace smp::interpret;

static void printElement(const Tensor &tensor, int64_t element,
                         llvm::raw_ostream &out) {
  if (tensor.isFloat())
    out << llvm::format("%.7g", tensor.floats()[element]);
  else
    out << tensor.ints()[element];
}

void interpret::printTensors(const TensorMap &tensors, llvm::raw_ostream &out) {
  constexpr int64_t kMost = 64;
  for (const auto &[name, tensor] : tensors) {
    out << name << ": " << dataTypeName(tensor.type()) << " "
        << shapeString(tensor.shape()) << " =";
    for (int64_t element = 0; element < std::min(tensor.size(), kMost);
         ++element) {
      out << " ";
      printElement(tensor, element, out);
    }
    out << (tensor.size() > kMost ? " ...\n" : "\n");
  }
}
