//===- OpGradientTest.cpp - Gradients equal central differences -----------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each differentiable op of the dialect, on random shapes: the gradient
// that the op builds equals central differences of its semantics, in double
// precision, for all operands; and asking for one operand alone gives the same.
//
//===----------------------------------------------------------------------===//

#include "GradientCase.h"
#include "TestContext.h"
#include "mlir/IR/Verifier.h"
#include "smp/Interpret/Execute.h"
#include "smp/Interpret/Gradient.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

static constexpr double kStep = 1e-5;
static constexpr double kTolerance = 1e-6;
static constexpr uint64_t kSeeds = 12;

static Context lifted() {
  Context context;
  context.precision = Precision::F64;
  return context;
}

/// sum(result * cotangent), the function that is differentiated.
static double objective(GradientCase &c, const std::vector<Tensor> &arguments,
                        const std::vector<Tensor> &cotangents) {
  auto results = execute(c.function, arguments, lifted());
  EXPECT_TRUE(succeeded(results));
  double sum = 0;
  for (auto [result, cotangent] : llvm::zip_equal(*results, cotangents))
    for (int64_t element = 0; element < result.size(); ++element)
      sum += result.floats()[element] * cotangent.floats()[element];
  return sum;
}

static Tensor differences(GradientCase &c, unsigned target,
                          const std::vector<Tensor> &cotangents) {
  Tensor result = c.arguments[target];
  auto slopes = result.mutableFloats();
  for (int64_t element = 0; element < result.size(); ++element) {
    auto at = [&](double offset) {
      std::vector<Tensor> arguments = c.arguments;
      arguments[target].mutableFloats()[element] += offset;
      return objective(c, arguments, cotangents);
    };
    slopes[element] = (at(kStep) - at(-kStep)) / (2 * kStep);
  }
  return result;
}

/// The gradients of `targets` as the op builds them; zeros where it builds
/// none.
static std::vector<Tensor> built(GradientCase &c,
                                 const std::vector<unsigned> &targets,
                                 const std::vector<Tensor> &cotangents) {
  OwningOpRef<ModuleOp> copy = c.module->clone();
  auto function = copy->lookupSymbol<func::FuncOp>("f");
  Block &body = function.getBody().front();
  Operation *terminator = body.getTerminator();
  SmallVector<Value> outputs(terminator->getOperands()), seeds, arguments;
  for (Value output : outputs)
    seeds.push_back(body.addArgument(output.getType(), output.getLoc()));
  for (unsigned target : targets)
    arguments.push_back(body.getArgument(target));
  auto gradients = buildGradients(function, outputs, seeds, arguments);
  if (failed(gradients)) {
    ADD_FAILURE() << "no gradient is built";
    return {};
  }
  OpBuilder builder(terminator);
  for (auto [gradient, argument] : llvm::zip_equal(*gradients, arguments))
    if (!gradient)
      gradient = fillLike(builder, argument, 0);
  terminator->setOperands(*gradients);
  function.setType(builder.getFunctionType(body.getArgumentTypes(),
                                           ValueRange(*gradients).getTypes()));
  EXPECT_TRUE(succeeded(verify(*copy)));
  std::vector<Tensor> values = c.arguments;
  values.insert(values.end(), cotangents.begin(), cotangents.end());
  auto results = execute(function, values, lifted());
  EXPECT_TRUE(succeeded(results));
  return succeeded(results) ? *results : std::vector<Tensor>();
}

/// max|a - b| against the larger of 1 and max|b|: these numbers are near 1.
static double distance(const Tensor &a, const Tensor &b) {
  double difference = 0, scale = 1;
  for (int64_t element = 0; element < b.size(); ++element) {
    difference = std::max(difference,
                          std::abs(a.floats()[element] - b.floats()[element]));
    scale = std::max(scale, std::abs(b.floats()[element]));
  }
  return difference / scale;
}

static void checkCase(const NamedCase &named, uint64_t seed) {
  SCOPED_TRACE(std::string(named.op) + ", seed " + std::to_string(seed));
  GradientCase c(testContext(), seed * 1000003 + 17);
  named.build(c);
  ASSERT_TRUE(succeeded(verify(*c.module)));
  std::vector<Tensor> cotangents;
  for (Type type : c.function.getResultTypes())
    cotangents.push_back(
        randomTensor(c.random, Shape(cast<RankedTensorType>(type).getShape())));
  std::vector<Tensor> together = built(c, c.targets, cotangents);
  ASSERT_EQ(together.size(), c.targets.size());
  for (auto [target, gradient] : llvm::zip_equal(c.targets, together)) {
    EXPECT_LE(distance(gradient, differences(c, target, cotangents)),
              kTolerance)
        << "operand " << target;
    std::vector<Tensor> alone = built(c, {target}, cotangents);
    ASSERT_EQ(alone.size(), 1u);
    EXPECT_LE(distance(alone.front(), gradient), 1e-12)
        << "operand " << target << " alone";
  }
}

static std::vector<NamedCase> allCases() {
  std::vector<NamedCase> cases;
  for (ArrayRef<NamedCase> family :
       {elementwiseCases(), shapeCases(), compositeCases(), convolutionCases()})
    cases.insert(cases.end(), family.begin(), family.end());
  return cases;
}

class OpGradientTest : public testing::TestWithParam<NamedCase> {};

TEST_P(OpGradientTest, EqualsCentralDifferences) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed)
    checkCase(GetParam(), seed);
}

INSTANTIATE_TEST_SUITE_P(Ops, OpGradientTest, testing::ValuesIn(allCases()),
                         [](const auto &info) {
                           std::string name = info.param.op;
                           return name.substr(name.find('.') + 1);
                         });

TEST(OpGradient, EveryDifferentiableOpHasACase) {
  std::vector<NamedCase> cases = allCases();
  for (RegisteredOperationName op :
       testContext()->getRegisteredOperationsByDialect("smp")) {
    if (!op.hasInterface<DifferentiableOpInterface>() ||
        op.getStringRef() == "smp.stop_gradient")
      continue;
    EXPECT_TRUE(llvm::any_of(
        cases,
        [&](const NamedCase &named) { return op.getStringRef() == named.op; }))
        << op.getStringRef().str() << " expects a case in this test";
  }
}

TEST(OpGradient, StopGradientStops) {
  GradientCase c(testContext(), 1);
  Value operand = c.number({3});
  c.finish(c.create<StopGradientOp>(operand));
  std::vector<Tensor> gradients =
      built(c, c.targets, {Tensor::filled(DataType::F32, {3}, 1)});
  ASSERT_EQ(gradients.size(), 1u);
  EXPECT_TRUE(identical(gradients.front(), Tensor(DataType::F32, {3})));
}
