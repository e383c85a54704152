//===- SizeExprTest.cpp - Tests of symbolic sizes -------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Import/SizeExpr.h"
#include <gtest/gtest.h>

using namespace smp;
using namespace smp::pt2;

namespace {

std::string canonical(const std::string &text) {
  Result<SizeExpr> parsed = SizeExpr::parse(text);
  return parsed ? parsed->str() : "error";
}

TEST(SizeExpr, readsWhatSympyWrites) {
  EXPECT_EQ(canonical("Symbol('s72', positive=True, integer=True)"), "s72");
  EXPECT_EQ(canonical("Mul(Integer(16), Symbol('s72', positive=True, "
                      "integer=True))"),
            "16*s72");
  EXPECT_EQ(canonical("Add(Symbol('s1'), Integer(1))"), "1 + s1");
  EXPECT_EQ(canonical("16*s72"), "16*s72");
  EXPECT_EQ(canonical("s72*16 + 2*3 - s72"), "6 + 15*s72");
  EXPECT_EQ(canonical("(s0 + 1)*(s0 - 1)"), "-1 + s0*s0");
  EXPECT_EQ(canonical("FloorDiv(Mul(Integer(16), Symbol('s0')), Integer(4))"),
            "4*s0");
  EXPECT_EQ(canonical("16*s0//4"), "4*s0");
}

TEST(SizeExpr, equalSizesAreEqual) {
  EXPECT_EQ(*SizeExpr::parse("2*(s0 + 3)"), *SizeExpr::parse("6 + s0 + s0"));
  EXPECT_EQ(SizeExpr::parse("s0 - s0")->constant(), 0);
  EXPECT_EQ(SizeExpr::parse("3*4")->constant(), 12);
  EXPECT_FALSE(SizeExpr::parse("s0")->constant());
}

TEST(SizeExpr, knowsMultiples) {
  SizeExpr batch = SizeExpr::symbol("s0");
  EXPECT_EQ(SizeExpr::parse("16*s0")->multipleOf(batch), 16);
  EXPECT_EQ(SizeExpr::parse("s0")->multipleOf(batch), 1);
  EXPECT_FALSE(SizeExpr::parse("16*s0 + 1")->multipleOf(batch));
  EXPECT_FALSE(SizeExpr(16).multipleOf(batch));
}

TEST(SizeExpr, refusesWhatIsNoPolynomial) {
  for (const char *text :
       {"", "s0//3", "Mod(s0, 2)", "s0 +", "(s0", "s0)", "Symbol(s0)",
        "Max(s0, 2)", "99999999999999999999", "1.5", "s0 // s1"})
    EXPECT_EQ(canonical(text), "error") << text;
}

TEST(SizeExpr, boundsDepthAndSize) {
  EXPECT_EQ(canonical(std::string(100000, '(')), "error");
  EXPECT_EQ(canonical(std::string(100000, '-') + "1"), "error");
  EXPECT_EQ(canonical("9223372036854775807*2*s0"), "error");
  EXPECT_EQ(canonical("a*b*c*d*e*f*g*h*i*j"), "error");
}

} // namespace
