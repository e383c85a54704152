//===- ImportEinsum.cpp - Import of Einstein sums -------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sum over two tensors is one matrix product, once each letter is known to be
// of both tensors and the result (batch), of both and not of the result
// (contracted), or of one tensor and the result. Letters of one tensor alone
// are summed before.
//
//   bqhd,bkhd->bhqk:  batch b h, left q, right k, contracted d
//
//===----------------------------------------------------------------------===//

#include "ImportTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace smp;

namespace {

/// A tensor and the letter of each of its dims.
struct Lettered {
  Tensor tensor;
  std::string letters;
};

class EinsumImporter {
public:
  explicit EinsumImporter(NodeImporter &n) : n(n) {}

  LogicalResult run();

private:
  LogicalResult parse();
  Lettered sumAlone(Lettered operand, const std::string &elsewhere);
  Tensor arranged(const Lettered &operand, const std::string &order);
  Tensor grouped(const Lettered &operand, ArrayRef<std::string> groups);
  Lettered multiply(const Lettered &lhs, const Lettered &rhs);
  Shape sizesOf(const std::string &letters);

  NodeImporter &n;
  std::vector<Lettered> operands;
  std::string result;
  std::map<char, pt2::SizeExpr> sizes;
};

} // namespace

/// The letters of `of` that satisfy a condition.
template <typename Condition>
static std::string lettersWhere(const std::string &of, Condition condition) {
  std::string letters;
  llvm::copy_if(of, std::back_inserter(letters), condition);
  return letters;
}

LogicalResult EinsumImporter::parse() {
  std::string equation = n.text("equation", "");
  llvm::erase(equation, ' ');
  auto [left, right] = StringRef(equation).split("->");
  std::vector<Tensor> tensors = n.tensors("tensors");
  SmallVector<StringRef> listed;
  left.split(listed, ',');
  if (!StringRef(equation).contains("->") ||
      equation.find('.') != equation.npos)
    return n.refuse("of equation '" + equation +
                    "', without a result or with dots");
  if (listed.size() != tensors.size() || tensors.size() > 2)
    return n.refuse("of " + Twine(tensors.size()) + " tensors");
  result = right.str();
  for (auto [letters, tensor] : llvm::zip(listed, tensors)) {
    operands.push_back({tensor, letters.str()});
    if (int64_t(letters.size()) != tensor.rank())
      return n.refuse("of equation '" + equation + "' and other ranks");
    for (auto [dim, letter] : llvm::enumerate(letters)) {
      auto [known, isNew] = sizes.try_emplace(letter, tensor.shape[dim]);
      if (letters.count(letter) > 1 || known->second != tensor.shape[dim])
        return n.refuse("of equation '" + equation +
                        "', with a letter twice or of two sizes");
    }
  }
  for (char letter : result)
    if (!sizes.count(letter) || StringRef(result).count(letter) > 1)
      return n.refuse("of equation '" + equation + "'");
  return success();
}

Shape EinsumImporter::sizesOf(const std::string &letters) {
  Shape shape;
  for (char letter : letters)
    shape.push_back(sizes[letter]);
  return shape;
}

/// Sums over the letters that are nowhere else.
Lettered EinsumImporter::sumAlone(Lettered operand,
                                  const std::string &elsewhere) {
  SmallVector<int64_t> dims;
  for (auto [dim, letter] : llvm::enumerate(operand.letters))
    if (!StringRef(elsewhere).contains(letter))
      dims.push_back(dim);
  if (dims.empty())
    return operand;
  return {n.reduce<ReduceSumOp>(operand.tensor, dims, /*keep=*/false),
          lettersWhere(operand.letters, [&](char letter) {
            return StringRef(elsewhere).contains(letter);
          })};
}

/// The tensor with its dims in this order.
Tensor EinsumImporter::arranged(const Lettered &operand,
                                const std::string &order) {
  SmallVector<int64_t> permutation;
  for (char letter : order)
    permutation.push_back(operand.letters.find(letter));
  return n.transpose(operand.tensor, permutation);
}

/// The tensor with one dim for each group of letters.
Tensor EinsumImporter::grouped(const Lettered &operand,
                               ArrayRef<std::string> groups) {
  std::string order;
  Shape shape;
  for (const std::string &group : groups) {
    order += group;
    std::optional<pt2::SizeExpr> size = elementsOf(sizesOf(group));
    if (!size)
      (void)n.refuse("of too many elements");
    shape.push_back(size.value_or(1));
  }
  return n.reshape(arranged(operand, order), shape);
}

Lettered EinsumImporter::multiply(const Lettered &lhs, const Lettered &rhs) {
  auto isIn = [](const std::string &letters) {
    return [&](char letter) { return StringRef(letters).contains(letter); };
  };
  std::string both = lettersWhere(lhs.letters, isIn(rhs.letters));
  std::string batch = lettersWhere(both, isIn(result));
  std::string summed =
      lettersWhere(both, [&](char c) { return !isIn(result)(c); });
  auto alone = [&](const std::string &letters) {
    return lettersWhere(letters, [&](char c) { return !isIn(both)(c); });
  };
  std::string left = alone(lhs.letters), right = alone(rhs.letters);
  std::string order = batch + left + right;
  Tensor product;
  if (batch.empty())
    product = matrixProduct(n, grouped(lhs, {left, summed}),
                            grouped(rhs, {summed, right}));
  else
    product = batchMatmul(n, grouped(lhs, {batch, left, summed}),
                          grouped(rhs, {batch, summed, right}));
  return {n.reshape(product, sizesOf(order)), order};
}

LogicalResult EinsumImporter::run() {
  if (failed(parse()))
    return failure();
  Lettered value;
  if (operands.size() == 1) {
    value = sumAlone(operands[0], result);
  } else {
    Lettered lhs = sumAlone(operands[0], operands[1].letters + result);
    Lettered rhs = sumAlone(operands[1], operands[0].letters + result);
    value = multiply(lhs, rhs);
  }
  if (n.refused())
    return failure();
  return n.give(arranged(value, result));
}

static LogicalResult importEinsum(NodeImporter &n) {
  return EinsumImporter(n).run();
}

ArrayRef<ImportRule> smp::einsumRules() {
  static const ImportRule rules[] = {
      {"aten.einsum.default", importEinsum, "tensors"},
  };
  return rules;
}
