//===- ShardingRule.cpp - How an op may be split --------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/IR/ShardingRule.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace smp;

/// The shapes of the tensors of a range.
static SmallVector<ArrayRef<int64_t>> shapesOf(TypeRange types) {
  SmallVector<ArrayRef<int64_t>> shapes;
  for (Type type : types)
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      shapes.push_back(tensor.getShape());
  return shapes;
}

namespace {

/// Names of a dim's factors; "..." stands alone.
using NamedDim = SmallVector<StringRef, 2>;

class RuleParser {
public:
  ShardingRule run(Operation *op, StringRef text);

private:
  void parseSide(StringRef text, ArrayRef<ArrayRef<int64_t>> shapes,
                 SmallVectorImpl<ShardingRule::Shape> &found);
  static SmallVector<NamedDim> parseTensor(StringRef text);
  ShardingRule::Dim factorsOf(const NamedDim &names, int64_t size);
  unsigned factorOf(StringRef name, int64_t size);
  void completeSizes(Operation *op);

  ShardingRule rule;
  llvm::StringMap<unsigned> numbers;
};

/// A size that is not known yet.
constexpr int64_t kUnknown = -1;

} // namespace

unsigned RuleParser::factorOf(StringRef name, int64_t size) {
  auto [entry, isNew] = numbers.try_emplace(name, rule.factors.size());
  if (isNew)
    rule.factors.push_back(
        {kUnknown, llvm::isUpper(name.front()), name.front() == '+'});
  ShardingRule::Factor &factor = rule.factors[entry->second];
  if (factor.size == kUnknown)
    factor.size = size;
  return entry->second;
}

ShardingRule::Dim RuleParser::factorsOf(const NamedDim &names, int64_t size) {
  ShardingRule::Dim factors;
  for (StringRef name : names)
    if (name != "1")
      factors.push_back(factorOf(name, names.size() == 1 ? size : kUnknown));
  return factors;
}

SmallVector<NamedDim> RuleParser::parseTensor(StringRef text) {
  SmallVector<NamedDim> dims;
  bool inside = false;
  SmallVector<StringRef> words;
  llvm::SplitString(text, words);
  for (StringRef word : words) {
    bool opens = word.consume_front("("), closes = word.consume_back(")");
    if (!inside)
      dims.emplace_back();
    dims.back().push_back(word);
    inside = (inside || opens) && !closes;
  }
  return dims;
}

void RuleParser::parseSide(StringRef text, ArrayRef<ArrayRef<int64_t>> shapes,
                           SmallVectorImpl<ShardingRule::Shape> &found) {
  SmallVector<StringRef> tensors;
  text.split(tensors, ',');
  assert(tensors.size() == shapes.size() && "expects each tensor once");
  for (auto [tensor, shape] : llvm::zip_equal(tensors, shapes)) {
    SmallVector<NamedDim> dims = parseTensor(tensor);
    ShardingRule::Shape &factors = found.emplace_back();
    size_t more = shape.size() + 1 - dims.size(), at = 0;
    for (const NamedDim &dim : dims) {
      if (dim.front() != "...") {
        factors.push_back(factorsOf(dim, shape[at++]));
        continue;
      }
      for (size_t i = 0; i < more; ++i) {
        std::string name = "..." + std::to_string(i);
        factors.push_back({factorOf(name, shape[at++])});
      }
    }
    assert(at == shape.size() && "expects each dim once");
  }
}

/// Of dims of several factors, the size of the one that no other dim tells.
void RuleParser::completeSizes(Operation *op) {
  auto complete = [&](ArrayRef<ArrayRef<int64_t>> shapes,
                      ArrayRef<ShardingRule::Shape> found) {
    for (auto [shape, dims] : llvm::zip_equal(shapes, found))
      for (auto [size, factors] : llvm::zip_equal(shape, dims)) {
        int64_t rest = size;
        ShardingRule::Factor *open = nullptr;
        for (unsigned number : factors) {
          ShardingRule::Factor &factor = rule.factors[number];
          if (factor.size == kUnknown)
            open = &factor;
          else if (!ShapedType::isDynamic(rest) && factor.size > 0)
            rest /= factor.size;
        }
        if (open)
          open->size = rest;
      }
  };
  complete(shapesOf(op->getOperandTypes()), rule.operands);
  complete(shapesOf(op->getResultTypes()), rule.results);
}

ShardingRule RuleParser::run(Operation *op, StringRef text) {
  auto [operands, results] = text.split("->");
  parseSide(operands, shapesOf(op->getOperandTypes()), rule.operands);
  size_t ofOperands = rule.factors.size();
  llvm::SmallDenseSet<unsigned> ofResults;
  parseSide(results, shapesOf(op->getResultTypes()), rule.results);
  for (const ShardingRule::Shape &dims : rule.results)
    for (const ShardingRule::Dim &dim : dims)
      ofResults.insert(dim.begin(), dim.end());
  for (size_t number = 0; number < ofOperands; ++number)
    if (!ofResults.contains(number) && !rule.factors[number].isWhole)
      rule.factors[number].isSummed = true;
  completeSizes(op);
  return std::move(rule);
}

ShardingRule ShardingRule::parse(Operation *op, StringRef text) {
  return RuleParser().run(op, text);
}

ShardingRule ShardingRule::ofEqualPlaces(Operation *op) {
  SmallVector<StringRef> operands(shapesOf(op->getOperandTypes()).size(),
                                  "...");
  SmallVector<StringRef> results(shapesOf(op->getResultTypes()).size(), "...");
  return parse(op, llvm::join(operands, ",") + "->" + llvm::join(results, ","));
}

ShardingRule ShardingRule::ofWholes(Operation *op) {
  ShardingRule rule;
  auto add = [&](TypeRange types, SmallVectorImpl<Shape> &found) {
    for (ArrayRef<int64_t> shape : shapesOf(types)) {
      found.emplace_back();
      for (int64_t size : shape) {
        found.back().push_back({unsigned(rule.factors.size())});
        rule.factors.push_back({size, /*isWhole=*/true, /*isSummed=*/false});
      }
    }
  };
  add(op->getOperandTypes(), rule.operands);
  add(op->getResultTypes(), rule.results);
  return rule;
}

ShardingRule smp::detail::defaultShardingRule(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() ? ShardingRule::ofEqualPlaces(op)
                                              : ShardingRule::ofWholes(op);
}
