//===- ShardingRuleTest.cpp - Parts of operands give parts of results -----===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each op, on random shapes, and each factor that its rule does not need
// whole: the op on either part of the factor gives, by its semantics, that part
// of the results which have it, summands of the others if it is summed over,
// else these themselves.
//
//===----------------------------------------------------------------------===//

#include "GradientCase.h"
#include "TestContext.h"
#include "mlir/IR/Verifier.h"
#include "smp/Interpret/Execute.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

static constexpr uint64_t kSeeds = 12;

namespace {
/// A range of the parts of a factor.
struct Part {
  unsigned factor;
  int64_t begin, end;
};
} // namespace

/// A tensor's factors in row-major order around one of them: how many parts
/// come before it, and how many places each of its parts has.
static std::optional<std::pair<int64_t, int64_t>>
around(const ShardingRule &rule, const ShardingRule::Shape &dims,
       unsigned factor) {
  int64_t outer = 1, inner = 1;
  bool found = false;
  for (const ShardingRule::Dim &dim : dims)
    for (unsigned number : dim) {
      if (number == factor)
        found = true;
      else
        (found ? inner : outer) *= rule.factors[number].size;
    }
  return found ? std::optional(std::pair(outer, inner)) : std::nullopt;
}

static Shape partShape(const ShardingRule &rule,
                       const ShardingRule::Shape &dims, ArrayRef<int64_t> shape,
                       const Part &part) {
  Shape result(shape);
  for (auto [size, dim] : llvm::zip_equal(result, dims))
    if (llvm::is_contained(dim, part.factor))
      size = size / rule.factors[part.factor].size * (part.end - part.begin);
  return result;
}

template <typename T>
static std::vector<T> partElements(std::span<const T> whole, int64_t outer,
                                   int64_t size, int64_t inner,
                                   const Part &part) {
  std::vector<T> elements;
  for (int64_t i = 0; i < outer; ++i)
    elements.insert(elements.end(),
                    whole.begin() + (i * size + part.begin) * inner,
                    whole.begin() + (i * size + part.end) * inner);
  return elements;
}

/// What a part has of a tensor: all of it where that lacks the factor.
static Tensor partOf(const ShardingRule &rule, const ShardingRule::Shape &dims,
                     const Tensor &whole, const Part &part) {
  auto place = around(rule, dims, part.factor);
  if (!place)
    return whole;
  Shape shape = partShape(rule, dims, whole.shape(), part);
  int64_t size = rule.factors[part.factor].size;
  if (whole.isFloat())
    return Tensor(
        whole.type(), shape,
        partElements(whole.floats(), place->first, size, place->second, part));
  return Tensor(
      whole.type(), shape,
      partElements(whole.ints(), place->first, size, place->second, part));
}

static Operation *opOf(func::FuncOp function) {
  return &function.getBody().front().front();
}

/// All results of the op, on part of its operands if `part` is given.
static std::vector<Tensor> resultsOf(GradientCase &c, const ShardingRule &rule,
                                     std::optional<Part> part) {
  OwningOpRef<ModuleOp> copy = c.module->clone();
  auto function = copy->lookupSymbol<func::FuncOp>("f");
  Block &body = function.getBody().front();
  Operation *op = opOf(function);
  std::vector<Tensor> arguments = c.arguments;
  auto narrow = [&](Value value, const ShardingRule::Shape &dims) {
    auto type = cast<RankedTensorType>(value.getType());
    value.setType(RankedTensorType::get(
        partShape(rule, dims, type.getShape(), *part), type.getElementType()));
  };
  if (part) {
    llvm::DenseSet<Value> narrowed;
    for (auto [operand, dims] :
         llvm::zip_equal(op->getOperands(), rule.operands)) {
      unsigned number = cast<BlockArgument>(operand).getArgNumber();
      if (!narrowed.insert(operand).second)
        continue;
      arguments[number] = partOf(rule, dims, arguments[number], *part);
      narrow(operand, dims);
    }
    for (auto [result, dims] : llvm::zip_equal(op->getResults(), rule.results))
      narrow(result, dims);
  }
  body.getTerminator()->setOperands(op->getResults());
  function.setType(
      c.builder.getFunctionType(body.getArgumentTypes(), op->getResultTypes()));
  EXPECT_TRUE(succeeded(verify(*copy)));
  Context context;
  context.precision = Precision::F64;
  auto results = execute(function, arguments, context);
  EXPECT_TRUE(succeeded(results));
  return succeeded(results) ? *results : std::vector<Tensor>();
}

static void expectEqual(const Tensor &got, const Tensor &expected,
                        const std::string &what) {
  ASSERT_EQ(got.shape(), expected.shape()) << what;
  for (int64_t i = 0; i < expected.size(); ++i) {
    double a = got.number(i), b = expected.number(i);
    EXPECT_TRUE(a == b || std::abs(a - b) <= 1e-12 * (1 + std::abs(b)))
        << what << ", element " << i << ": " << a << " and " << b;
  }
}

static void checkFactor(GradientCase &c, const ShardingRule &rule,
                        unsigned factor, const std::vector<Tensor> &whole) {
  int64_t size = rule.factors[factor].size, cut = c.pick(1, size - 1);
  Part parts[] = {{factor, 0, cut}, {factor, cut, size}};
  std::vector<Tensor> first = resultsOf(c, rule, parts[0]);
  std::vector<Tensor> second = resultsOf(c, rule, parts[1]);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string what =
        "factor " + std::to_string(factor) + ", result " + std::to_string(i);
    if (rule.factors[factor].isSummed &&
        !around(rule, rule.results[i], factor)) {
      expectEqual(sum(first[i], second[i]), whole[i], what);
      continue;
    }
    expectEqual(first[i], partOf(rule, rule.results[i], whole[i], parts[0]),
                what);
    expectEqual(second[i], partOf(rule, rule.results[i], whole[i], parts[1]),
                what);
  }
}

/// Whether the shapes are those of the factors.
static void checkSizes(const ShardingRule &rule, TypeRange types,
                       ArrayRef<ShardingRule::Shape> shapes) {
  ASSERT_EQ(types.size(), shapes.size());
  for (auto [type, dims] : llvm::zip_equal(types, shapes))
    for (auto [size, dim] :
         llvm::zip_equal(cast<RankedTensorType>(type).getShape(), dims)) {
      int64_t product = 1;
      for (unsigned number : dim)
        product *= rule.factors[number].size;
      EXPECT_EQ(product, size);
    }
}

/// Numbers that are drawn by place are other ones in a part.
static bool isRandom(Operation *op) {
  auto attention = dyn_cast<AttentionOp>(op);
  return isa<DropoutOp>(op) || (attention && !attention.getDropout().isZero());
}

/// The number of factors that were split.
static int checkOp(GradientCase &c) {
  EXPECT_TRUE(succeeded(verify(*c.module)));
  Operation *op = opOf(c.function);
  ShardingRule rule = cast<ShardingRuleOpInterface>(op).getShardingRule();
  checkSizes(rule, op->getOperandTypes(), rule.operands);
  checkSizes(rule, op->getResultTypes(), rule.results);
  if (isRandom(op))
    return 0;
  std::vector<Tensor> whole = resultsOf(c, rule, std::nullopt);
  int checked = 0;
  for (auto [number, factor] : llvm::enumerate(rule.factors))
    if (!factor.isWhole && factor.size > 1) {
      checkFactor(c, rule, number, whole);
      ++checked;
    }
  return checked;
}

static void labelCount(GradientCase &c) {
  c.create<LabelCountOp>(c.indices(c.shape(1, 3), 4), /*ignore_index=*/2);
}

static void index(GradientCase &c) {
  Shape shape = c.shape(2, 4), places = c.shape(1, 2);
  Value operand = c.number(shape);
  SmallVector<Value> indices;
  for (int64_t dim = 0; dim < c.pick(1, shape.size()); ++dim)
    indices.push_back(c.indices(places, shape[dim]));
  c.create<IndexOp>(operand, indices);
}

static void compare(GradientCase &c) {
  Shape shape = c.shape(1, 3);
  Value lhs = c.number(shape), rhs = c.number(shape);
  c.create<CompareOp>(ComparePredicate::LT, lhs, rhs);
}

static std::vector<NamedCase> allCases() {
  std::vector<NamedCase> cases = {{"smp.label_count", labelCount},
                                  {"smp.index", index},
                                  {"smp.compare", compare}};
  for (ArrayRef<NamedCase> family :
       {elementwiseCases(), shapeCases(), compositeCases(), convolutionCases()})
    cases.insert(cases.end(), family.begin(), family.end());
  return cases;
}

class ShardingRuleTest : public testing::TestWithParam<NamedCase> {};

TEST_P(ShardingRuleTest, PartsGiveParts) {
  int checked = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GradientCase c(testContext(), seed * 1000003 + 71);
    GetParam().build(c);
    if (c.function.getBody().front().getOperations().size() == 1)
      func::ReturnOp::create(c.builder, c.function.getLoc(), ValueRange());
    c.function.setType(c.builder.getFunctionType(
        c.function.getBody().front().getArgumentTypes(),
        c.function.getBody().front().getTerminator()->getOperandTypes()));
    checked += checkOp(c);
  }
  bool splits = GetParam().op != StringRef("smp.mean_loss") &&
                GetParam().op != StringRef("smp.dropout");
  EXPECT_EQ(checked > 0, splits);
}

INSTANTIATE_TEST_SUITE_P(Ops, ShardingRuleTest, testing::ValuesIn(allCases()),
                         [](const auto &info) {
                           std::string name = info.param.op;
                           return name.substr(name.find('.') + 1);
                         });

TEST(ShardingRule, FollowsFactorsThroughAReshape) {
  GradientCase c(testContext(), 1);
  Value operand = c.number({6, 4});
  auto reshape =
      c.create<ReshapeOp>(c.floats({2, 12, 1}), operand, ValueRange());
  ShardingRule rule = reshape.getShardingRule();
  ASSERT_EQ(rule.factors.size(), 3u); // 2, 3 and 4
  EXPECT_EQ(rule.operands[0], (ShardingRule::Shape{{0, 1}, {2}}));
  EXPECT_EQ(rule.results[0], (ShardingRule::Shape{{0}, {1, 2}, {}}));
  // 4 and 6 have no common factor of whole dims.
  auto crossing = c.create<ReshapeOp>(c.floats({4, 6}), operand, ValueRange());
  for (const ShardingRule::Factor &factor : crossing.getShardingRule().factors)
    EXPECT_TRUE(factor.isWhole);
}
