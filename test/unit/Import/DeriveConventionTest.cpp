//===- DeriveConventionTest.cpp - Tests of labels against tokens ----------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeriveConvention.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace smp;

namespace {

/// `body` makes %places, of type tensor<?x4xi64>, of the labels %l.
struct Model {
  std::string body = "%places = smp.slice %l, 1 [0 : 4] : tensor<?x4xi64> -> "
                     "tensor<?x4xi64>";
  std::string loss = R"(
      %sum, %count, %lse = smp.cross_entropy %x, %y ignore -100
          : tensor<?x9xf32>, tensor<?xi64>)";
  std::string labelRole = "label", lossRole = "loss";
  /// Of the tokens.
  std::string length = "4";

  std::string text() const {
    return "func.func @train(%t: tensor<?x" + length +
           R"(xi64> {smp.role = "input"}, %l: tensor<?x4xi64> {smp.role = ")" +
           labelRole + R"("}) -> (tensor<f32> {smp.role = ")" + lossRole +
           R"("}) {
      %b = smp.dim %l, 0 : tensor<?x4xi64>
      %four = arith.constant 4 : index
      %n = arith.muli %b, %four : index
      )" + body +
           R"(
      %y = smp.reshape %places [%n] : tensor<?x4xi64> -> tensor<?xi64>
      %x = smp.fill 1.0 [%n] : tensor<?x9xf32>
      )" + loss +
           R"(
      return %sum : tensor<f32>
    })";
  }

  /// The convention, or the error.
  std::string derive() const {
    MLIRContext context;
    context.loadDialect<SmpDialect, func::FuncDialect, arith::ArithDialect>();
    std::string errors;
    context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
      errors += diagnostic.str();
      for (Diagnostic &note : diagnostic.getNotes())
        errors += "\nnote: " + note.str();
      return success();
    });
    auto module = parseSourceString<ModuleOp>(text(), &context);
    if (!module)
      return errors;
    llvm::FailureOr<std::string> convention = deriveConvention(*module);
    return succeeded(convention) ? *convention : errors;
  }
};

TEST(DeriveConvention, labelsAsTheyAre) {
  EXPECT_EQ(Model().derive(), "next-token");
}

TEST(DeriveConvention, shiftedByTheModel) {
  Model model;
  model.body = R"(
      %s = smp.slice %l, 1 [1 : 4] : tensor<?x4xi64> -> tensor<?x3xi64>
      %e = smp.fill -100.0 [%b] : tensor<?x1xi64>
      %places = smp.concat %s, %e dim 1
          : (tensor<?x3xi64>, tensor<?x1xi64>) -> tensor<?x4xi64>)";
  EXPECT_EQ(model.derive(), "hf");
}

TEST(DeriveConvention, onlyOneSequenceBesideAsManyLabels) {
  Model model;
  model.length = "5";
  EXPECT_EQ(model.derive(), "");
  model = Model();
  model.labelRole = "input";
  EXPECT_EQ(model.derive(), "");
  model = Model();
  model.lossRole = "output";
  EXPECT_EQ(model.derive(), "");
}

TEST(DeriveConvention, asksWhereLabelsCannotBeFollowed) {
  Model model;
  model.loss = "%sum = smp.fill 0.0 : tensor<f32>";
  std::string errors = model.derive();
  EXPECT_NE(errors.find("expects the labels to reach a cross-entropy in a way "
                        "that shows how they lie against the tokens"),
            errors.npos)
      << errors;
  EXPECT_NE(errors.find("note: say it: --data-convention=hf"), errors.npos);
}

} // namespace
