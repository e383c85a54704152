//===- EagerMachine.h - Runs small graphs as PyTorch does -------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensors are an offset and strides into memory that views share and that
// mutations change: what functionalisation has to reproduce without either.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_TEST_UNIT_IMPORT_EAGERMACHINE_H
#define SMP_TEST_UNIT_IMPORT_EAGERMACHINE_H

#include "smp/Import/ExportedGraph.h"
#include <functional>
#include <gtest/gtest.h>
#include <numeric>

namespace smp::test {

using Sizes = std::vector<int64_t>;

inline Sizes rowMajor(const Sizes &shape) {
  Sizes strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

struct EagerTensor {
  std::shared_ptr<std::vector<double>> memory;
  int64_t offset = 0;
  Sizes shape, strides;

  static EagerTensor filled(const Sizes &shape, double value) {
    int64_t count = std::accumulate(shape.begin(), shape.end(), int64_t(1),
                                    std::multiplies<>());
    return {std::make_shared<std::vector<double>>(count, value), 0, shape,
            rowMajor(shape)};
  }
  bool contiguous() const {
    Sizes expected = rowMajor(shape);
    for (size_t i = 0; i < shape.size(); ++i)
      if (shape[i] != 1 && strides[i] != expected[i])
        return false;
    return true;
  }
  /// Calls with a reference to each element, in row-major order.
  void forEach(const std::function<void(double &)> &visit, size_t dim = 0,
               int64_t at = 0) const {
    if (dim == shape.size())
      return visit((*memory)[offset + at]);
    for (int64_t i = 0; i < shape[dim]; ++i)
      forEach(visit, dim + 1, at + i * strides[dim]);
  }
  std::vector<double> elements() const {
    std::vector<double> result;
    forEach([&](double &element) { result.push_back(element); });
    return result;
  }
  EagerTensor clone() const {
    EagerTensor copy = filled(shape, 0);
    *copy.memory = elements();
    return copy;
  }
  EagerTensor view(const Sizes &sizes) const {
    EagerTensor source = contiguous() ? *this : clone();
    return {source.memory, source.offset, sizes, rowMajor(sizes)};
  }
  EagerTensor slice(int64_t dim, int64_t start, int64_t end,
                    int64_t step) const {
    EagerTensor result = *this;
    result.offset += start * strides[dim];
    result.shape[dim] = (end - start + step - 1) / step;
    result.strides[dim] *= step;
    return result;
  }
  EagerTensor select(int64_t dim, int64_t index) const {
    EagerTensor result = slice(dim, index, index + 1, 1);
    result.shape.erase(result.shape.begin() + dim);
    result.strides.erase(result.strides.begin() + dim);
    return result;
  }
  EagerTensor permute(const Sizes &dims) const {
    EagerTensor result = *this;
    for (size_t i = 0; i < dims.size(); ++i) {
      result.shape[i] = shape[dims[i]];
      result.strides[i] = strides[dims[i]];
    }
    return result;
  }
};

class EagerMachine {
public:
  std::map<std::string, EagerTensor> tensors;

  /// Runs a node of the operators that the tests use, raw or functional.
  void run(const pt2::Node &node);

private:
  const pt2::Node *node = nullptr;
  Sizes listOf(const char *name) const {
    Sizes result;
    if (const pt2::Argument *argument = node->find(name))
      for (const pt2::SizeExpr &size : argument->sizes)
        result.push_back(*size.constant());
    return result;
  }
  int64_t numberOf(const char *name, int64_t fallback) const {
    Sizes listed = listOf(name);
    return listed.empty() ? fallback : listed.front();
  }
  const EagerTensor &tensorOf(const char *name) const {
    return tensors.at(node->find(name)->tensors.front());
  }
  EagerTensor sliced(const EagerTensor &self) const {
    int64_t dim = numberOf("dim", 0);
    return self.slice(dim, numberOf("start", 0),
                      numberOf("end", self.shape[dim]), numberOf("step", 1));
  }
  void give(EagerTensor tensor, size_t index = 0) {
    if (index < node->outputs.size() && !node->outputs[index].empty())
      tensors[node->outputs[index]] = std::move(tensor);
  }
  static void copy(const EagerTensor &to, const EagerTensor &from) {
    std::vector<double> values = from.elements();
    ASSERT_EQ(to.shape, from.shape);
    size_t next = 0;
    to.forEach([&](double &element) { element = values[next++]; });
  }
  bool runView(const std::string &target, const EagerTensor &self);
  bool runArithmetic(const std::string &target, EagerTensor self);
  bool runScatter(const std::string &target, const EagerTensor &self);
};

inline bool EagerMachine::runView(const std::string &target,
                                  const EagerTensor &self) {
  if (target == "aten.view.default" || target == "aten.reshape.default")
    give(self.view(listOf("size")));
  else if (target == "aten.contiguous.default")
    give(self.contiguous() ? self : self.clone());
  else if (target == "aten.permute.default")
    give(self.permute(listOf("dims")));
  else if (target == "aten.transpose.int") {
    Sizes dims(self.shape.size());
    std::iota(dims.begin(), dims.end(), 0);
    std::swap(dims[numberOf("dim0", 0)], dims[numberOf("dim1", 0)]);
    give(self.permute(dims));
  } else if (target == "aten.slice.Tensor")
    give(sliced(self));
  else if (target == "aten.narrow.default")
    give(self.slice(numberOf("dim", 0), numberOf("start", 0),
                    numberOf("start", 0) + numberOf("length", 0), 1));
  else if (target == "aten.select.int")
    give(self.select(numberOf("dim", 0), numberOf("index", 0)));
  else if (target == "aten.unbind.int") {
    for (int64_t i = 0; i < self.shape[numberOf("dim", 0)]; ++i)
      give(self.select(numberOf("dim", 0), i), i);
  } else if (target == "aten.split.Tensor") {
    int64_t dim = numberOf("dim", 0), size = numberOf("split_size", 1);
    for (int64_t i = 0; i * size < self.shape[dim]; ++i)
      give(self.slice(dim, i * size, std::min((i + 1) * size, self.shape[dim]),
                      1),
           i);
  } else
    return false;
  return true;
}

/// In place or not: the same on the tensor or on a copy.
inline bool EagerMachine::runArithmetic(const std::string &target,
                                        EagerTensor self) {
  size_t dot = target.find('.', 5);
  std::string name = target.substr(5, dot - 5);
  if (name.back() == '_')
    name.pop_back();
  else
    self = self.clone();
  if (name == "copy")
    copy(self, tensorOf("src"));
  else if (name == "fill" || name == "zero")
    self.forEach([&](double &e) { e = numberOf("value", 0); });
  else if (name == "mul")
    self.forEach([&](double &e) { e *= numberOf("other", 1); });
  else if (name == "add") {
    std::vector<double> other = tensorOf("other").elements();
    size_t next = 0;
    self.forEach([&](double &e) { e += other[next++]; });
  } else if (name != "clone")
    return false;
  give(self);
  return true;
}

inline bool EagerMachine::runScatter(const std::string &target,
                                     const EagerTensor &self) {
  EagerTensor result = self.clone();
  if (target == "aten.slice_scatter.default")
    copy(sliced(result), tensorOf("src"));
  else if (target == "aten.select_scatter.default")
    copy(result.select(numberOf("dim", 0), numberOf("index", 0)),
         tensorOf("src"));
  else
    return false;
  give(result);
  return true;
}

inline void EagerMachine::run(const pt2::Node &next) {
  node = &next;
  EagerTensor self = tensorOf("self");
  if (!runView(next.target, self) && !runScatter(next.target, self))
    ASSERT_TRUE(runArithmetic(next.target, self)) << next.target;
}

} // namespace smp::test

#endif // SMP_TEST_UNIT_IMPORT_EAGERMACHINE_H
