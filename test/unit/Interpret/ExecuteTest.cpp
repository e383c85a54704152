//===- ExecuteTest.cpp - Functions on virtual ranks -----------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Interpret/Execute.h"
#include "TestContext.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

/// The only result of each rank, when rank r runs the function `program(r)` on
/// the number 10^r; empty after a diagnostic, which goes to `message`.
static std::vector<double>
runRanks(const std::string &text, const Grid &grid,
         const std::function<std::string(Coordinate)> &program,
         std::string *message = nullptr) {
  ScopedDiagnosticHandler handler(testContext(), [&](Diagnostic &diagnostic) {
    if (message)
      *message = diagnostic.str();
    return success();
  });
  auto module = parseSourceString<ModuleOp>(text, testContext());
  EXPECT_TRUE(module);
  std::vector<FunctionRun> runs;
  double value = 1;
  for (int rank = 0; rank < grid.worldSize(); ++rank, value *= 10) {
    Context context;
    Coordinate at = grid.coordinate(rank);
    context.step.axis[0] = at.pp;
    context.step.axis[2] = at.rdp;
    auto function = module->lookupSymbol<func::FuncOp>(program(at));
    runs.emplace_back(
        function, std::vector{Tensor::scalar(DataType::F32, value)}, context);
  }
  SmallVector<RankRun> together;
  for (int rank = 0; rank < grid.worldSize(); ++rank)
    together.push_back({&runs[rank], grid.coordinate(rank)});
  if (failed(executeTogether(together, grid)))
    return {};
  std::vector<double> results;
  for (FunctionRun &run : runs)
    results.push_back(run.results()[0].number(0));
  return results;
}

static std::string oneOp(const std::string &op, const std::string &name = "f") {
  return "func.func @" + name +
         "(%x: tensor<f32>) -> tensor<f32> {\n  %y = smp." + op +
         " : tensor<f32>\n  return %y : tensor<f32>\n}\n";
}

static std::string everywhere(Coordinate) { return "f"; }

using Numbers = std::vector<double>;

// cluster, pp 2: ranks 0 and 2 are pp 0, ranks 1 and 3 are pp 1.
static Grid grid22() { return *Grid::create("cluster", 2, 1, 4); }

TEST(Execute, AllReduceAddsOverItsGroupOnly) {
  EXPECT_EQ(runRanks(oneOp("all_reduce %x over #smp.group<rdp> because \"a\""),
                     grid22(), everywhere),
            (Numbers{101, 1010, 101, 1010}));
  EXPECT_EQ(
      runRanks(oneOp("all_reduce %x over #smp.group<pp, rdp> because \"a\""),
               grid22(), everywhere),
      (Numbers{1111, 1111, 1111, 1111}));
}

TEST(Execute, BroadcastGivesTheRootsValue) {
  EXPECT_EQ(
      runRanks(oneOp("broadcast %x over #smp.group<pp> root 1 because \"a\""),
               grid22(), everywhere),
      (Numbers{10, 10, 1000, 1000}));
}

/// A sum of as many ones as the position of a rank on an axis.
static std::string position(const std::string &axis) {
  return "func.func @f(%x: tensor<f32>) -> tensor<f32> {\n"
         "  %i = smp.axis_index <" +
         axis +
         "> : index\n"
         "  %ones = smp.fill 1.0 [%i] : tensor<?xf32>\n"
         "  %y = smp.reduce_sum %ones [0] : tensor<?xf32> -> tensor<f32>\n"
         "  return %y : tensor<f32>\n}\n";
}

TEST(Execute, AxisIndexIsThePositionOfTheRank) {
  EXPECT_EQ(runRanks(position("pp"), grid22(), everywhere),
            (Numbers{0, 1, 0, 1}));
  EXPECT_EQ(runRanks(position("rdp"), grid22(), everywhere),
            (Numbers{0, 0, 1, 1}));
}

TEST(Execute, AxisIndexOfARestrictedAxisCountsItsMembers) {
  Grid grid = *Grid::create("cluster", 4, 1, 4);
  std::string text = position("pp{1, 3}") + oneOp("neg %x", "g");
  EXPECT_EQ(
      runRanks(text, grid, [](Coordinate at) { return at.pp % 2 ? "f" : "g"; }),
      (Numbers{-1, 0, -100, 1}));
  std::string message;
  EXPECT_TRUE(runRanks(text, grid, everywhere, &message).empty());
  EXPECT_EQ(message, "'smp.axis_index' op expects a rank at a position in "
                     "#smp.axis<pp{1, 3}>, got position 0");
}

TEST(Execute, ReshardMeansTheLayouts) {
  auto reshard = [](const std::string &from, const std::string &to) {
    return runRanks(oneOp("reshard %x from #smp.layout<" + from +
                          "> to #smp.layout<" + to + "> because \"a\""),
                    grid22(), everywhere);
  };
  EXPECT_EQ(reshard("rdp = partial", ""), (Numbers{101, 1010, 101, 1010}));
  EXPECT_EQ(reshard("pp = owned(1)", ""), (Numbers{10, 10, 1000, 1000}));
  EXPECT_EQ(reshard("pp = owned(0), rdp = partial", ""),
            (Numbers{101, 101, 101, 101}));
  EXPECT_EQ(reshard("", "rdp = partial"), (Numbers{1, 10, 0, 0}));
  EXPECT_EQ(reshard("", "pp = owned(1)"), (Numbers{1, 10, 100, 1000}));
}

TEST(Execute, RanksOfDifferentProgramsMeet) {
  std::string text =
      oneOp("all_reduce %x over #smp.group<pp> because \"a\"", "f0") +
      "func.func @f1(%x: tensor<f32>) -> tensor<f32> {\n"
      "  %0 = smp.add %x, %x : tensor<f32>\n"
      "  %1 = smp.all_reduce %0 over #smp.group<pp> because \"a\" : "
      "tensor<f32>\n"
      "  %2 = smp.neg %1 : tensor<f32>\n"
      "  return %2 : tensor<f32>\n}\n";
  EXPECT_EQ(runRanks(text, grid22(),
                     [](Coordinate at) { return "f" + std::to_string(at.pp); }),
            (Numbers{21, -21, 2100, -2100}));
}

TEST(Execute, RanksThatWaitForEverAreAnError) {
  std::string text =
      oneOp("all_reduce %x over #smp.group<pp> because \"a\"", "f0") +
      oneOp("neg %x", "f1");
  std::string message;
  EXPECT_TRUE(runRanks(
                  text, grid22(),
                  [](Coordinate at) { return "f" + std::to_string(at.pp); },
                  &message)
                  .empty());
  EXPECT_EQ(message, "'smp.all_reduce' op expects all ranks of its group to "
                     "arrive, but rank 0 waits for ever");
}

TEST(Execute, ReportsArgumentsThatDoNotFit) {
  std::string message;
  ScopedDiagnosticHandler handler(testContext(), [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  auto module = parseSourceString<ModuleOp>(oneOp("neg %x"), testContext());
  auto function = module->lookupSymbol<func::FuncOp>("f");
  EXPECT_TRUE(failed(execute(function, {})));
  EXPECT_EQ(message, "expects 1 arguments of 'f', got 0");
  EXPECT_TRUE(failed(execute(function, {Tensor(DataType::F32, {2})})));
  EXPECT_EQ(message, "expects argument 0 of 'f' of type 'tensor<f32>', got "
                     "shape [2]");
}

/// Symbols, what is nested in them and terminators are read by whoever runs the
/// module.
static bool isStructure(RegisteredOperationName op) {
  return op.hasInterface<SymbolOpInterface>() ||
         op.hasTrait<OpTrait::IsTerminator>() ||
         op.getStringRef() == "smp.rank_schedule";
}

TEST(Execute, EveryOpHasSemantics) {
  for (RegisteredOperationName op :
       testContext()->getRegisteredOperationsByDialect("smp"))
    EXPECT_TRUE(isStructure(op) ||
                op.hasInterface<InterpretableOpInterface>() ||
                op.hasInterface<CollectiveOpInterface>() ||
                op.hasInterface<ActionOpInterface>())
        << op.getStringRef().str();
}
