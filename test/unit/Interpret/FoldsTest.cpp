//===- FoldsTest.cpp - What is folded means the same ----------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cases of test/IR/*-canonicalize.mlir run before and after, on operands
// with zeros of both signs, infinities and what is no number. Every bit of the
// results must be the same.
//
//===----------------------------------------------------------------------===//

#include "TestContext.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "smp/Interpret/Execute.h"
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

/// A tensor of the type, dims of unknown size being 2; an index is 2, too.
static Tensor randomOperand(Type type, std::mt19937_64 &random) {
  auto tensorType = dyn_cast<RankedTensorType>(type);
  if (!tensorType)
    return Tensor::index(2);
  Shape shape(tensorType.getShape());
  for (int64_t &size : shape)
    if (ShapedType::isDynamic(size))
      size = 2;
  using Limits = std::numeric_limits<double>;
  constexpr double numbers[] = {0.0,  -0.0, 1.0,    -1.0,
                                0.1,  -3.5, 1e-310, Limits::infinity(),
                                1e30, 2.0,  1e-40,  Limits::quiet_NaN()};
  constexpr int64_t integers[] = {0,  1,       2,
                                  -1, 1 << 20, std::numeric_limits<int>::min()};
  Tensor tensor(dataTypeOf(tensorType.getElementType()), shape);
  if (tensor.isFloat())
    for (double &element : tensor.mutableFloats())
      element = numbers[random() % std::size(numbers)];
  else
    for (int64_t &element : tensor.mutableInts())
      element = integers[random() % std::size(integers)];
  tensor.roundToType();
  return tensor;
}

static std::vector<Tensor> run(ModuleOp module, StringRef name, uint64_t seed,
                               Precision precision) {
  std::mt19937_64 random(seed);
  auto function = module.lookupSymbol<func::FuncOp>(name);
  std::vector<Tensor> operands;
  for (Type type : function.getArgumentTypes())
    operands.push_back(randomOperand(type, random));
  Context context;
  context.precision = precision;
  FailureOr<std::vector<Tensor>> results = execute(function, operands, context);
  EXPECT_TRUE(succeeded(results)) << name.str();
  return succeeded(results) ? *results : std::vector<Tensor>();
}

static int64_t countOps(ModuleOp module) {
  int64_t count = 0;
  module.walk([&](Operation *) { ++count; });
  return count;
}

class FoldsTest : public testing::TestWithParam<const char *> {};

TEST_P(FoldsTest, KeepEveryBit) {
  std::string file =
      std::string(SMP_IR_TESTS) + "/" + GetParam() + "-canonicalize.mlir";
  auto module = parseSourceFile<ModuleOp>(file, testContext());
  ASSERT_TRUE(module);
  OwningOpRef<ModuleOp> folded = module->clone();
  PassManager passes(testContext());
  passes.addPass(createCanonicalizerPass());
  ASSERT_TRUE(succeeded(passes.run(*folded)));
  EXPECT_LT(countOps(*folded), countOps(*module));
  for (auto function : module->getOps<func::FuncOp>())
    for (Precision precision : {Precision::Native, Precision::F64})
      for (uint64_t seed = 0; seed < 20; ++seed) {
        StringRef name = function.getSymName();
        std::vector<Tensor> expected = run(*module, name, seed, precision);
        std::vector<Tensor> found = run(*folded, name, seed, precision);
        ASSERT_EQ(found.size(), expected.size());
        for (auto [a, b] : llvm::zip(found, expected))
          EXPECT_TRUE(identical(a, b)) << name.str() << ", seed " << seed;
      }
}

INSTANTIATE_TEST_SUITE_P(Families, FoldsTest,
                         testing::Values("elementwise", "shape", "random"),
                         [](const auto &info) { return info.param; });
