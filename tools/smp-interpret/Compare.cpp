//===- Compare.cpp - Results against expected tensors ---------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compare.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Format.h"
#include <algorithm>
#include <cmath>

using namespace smp;
using namespace smp::interpret;

static double largestElement(const Tensor &tensor) {
  double largest = 0;
  for (int64_t element = 0, count = tensor.size(); element < count; ++element)
    largest = std::max(largest, std::abs(tensor.number(element)));
  return largest;
}

static bool isGradient(llvm::StringRef name) {
  return name.starts_with("grad/");
}

/// What a gradient's largest element counts at least.
static double gradientFloor(const TensorMap &expected) {
  std::vector<double> largest;
  for (const auto &[name, tensor] : expected)
    if (isGradient(name))
      largest.push_back(largestElement(tensor));
  if (largest.empty())
    return 0;
  auto middle = largest.begin() + largest.size() / 2;
  std::ranges::nth_element(largest, middle);
  return *middle / 1000;
}

static double difference(const Tensor &result, const Tensor &expected,
                         double floor) {
  double relative = relativeDifference(result, expected);
  double largest = largestElement(expected);
  if (floor == 0 || largest >= floor || largest == 0)
    return relative;
  return relative * largest / floor;
}

bool interpret::compareTensors(const TensorMap &results,
                               const TensorMap &expected, double tolerance,
                               llvm::raw_ostream &out) {
  double floor = gradientFloor(expected), worst = 0;
  bool equal = true;
  for (const auto &[name, tensor] : expected) {
    auto entry = results.find(name);
    if (entry == results.end()) {
      out << "'" << name << "' expects a result, got none\n";
      equal = false;
      continue;
    }
    double found =
        difference(entry->second, tensor, isGradient(name) ? floor : 0);
    worst = std::max(worst, found);
    if (found <= tolerance)
      continue;
    out << "'" << name << "' expects a difference of at most "
        << llvm::format("%.1e", tolerance) << ", got "
        << llvm::format("%.1e", found) << "\n";
    equal = false;
  }
  out << expected.size() << " tensors compared, largest difference "
      << llvm::format("%.1e", worst) << "\n";
  return equal;
}
