//===- LayoutTest.cpp - Tests of Megatron's layout string -----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Partition/Layout.h"

#include <gtest/gtest.h>

namespace smp::partition {
namespace {

using Stages = std::vector<std::string>;

Stages stagesOf(std::string_view layout) {
  auto stages = parseLayout(layout);
  EXPECT_TRUE(stages) << stages.error().str();
  return stages ? *stages : Stages();
}

TEST(Layout, RepeatsSymbolsAndGroups) {
  EXPECT_EQ(stagesOf("EL"), (Stages{"EL"}));
  EXPECT_EQ(stagesOf("Ett|ttL"), (Stages{"Ett", "ttL"}));
  EXPECT_EQ(stagesOf("E t*3 | (tt|)*2, t|L"),
            (Stages{"Ettt", "tt", "tt", "t", "L"}));
  EXPECT_EQ(stagesOf("Et*0|t(t|t)*2L"), (Stages{"E", "tt", "tt", "tL"}));
  EXPECT_EQ(stagesOf("E|(((t|)*2)*2)L|"),
            (Stages{"E", "t", "t", "t", "t", "L"}));
}

TEST(Layout, SaysWhatIsWrongWhere) {
  const std::pair<const char *, const char *> cases[] = {
      {"", "expects one E, then the layers, then one L, got ''"},
      {"Etx|L", "expects a symbol E, t, L or '|', got 'x' at character 3"},
      {"E(tt|L", "expects ')', got its end"},
      {"Ett)L", "expects a symbol E, t, L or '|', got ')' at character 4"},
      {"Et*|L", "expects a number of repetitions behind '*', got '|' at "
                "character 4"},
      {"Et*99999999999999999999L", "expects at most 65536 symbols"},
      {"E((t*60000)*60000)L", "expects at most 65536 symbols"},
      {"Etm|L", "got 'm' at character 3"},
      {"tE|L", "then one L, got 'tEL'"},
      {"E|L|t", "then one L, got 'ELt'"},
      {"E||L", "got an empty stage 1"},
      {"|EL", "got an empty stage 0"},
  };
  for (auto [layout, message] : cases) {
    auto stages = parseLayout(layout);
    ASSERT_FALSE(stages) << layout;
    EXPECT_NE(stages.error().str().find(message), std::string::npos)
        << layout << ": " << stages.error().str();
  }
  std::string deep(100, '(');
  EXPECT_FALSE(parseLayout(deep));
}

TEST(Layout, FindsLayers) {
  EXPECT_EQ(layerOf("transformer.h.3.attn.c_attn"), "transformer.h.3");
  EXPECT_EQ(layerOf("encoder.block.0.layer.1"), "encoder.block.0");
  EXPECT_EQ(layerOf("0"), "0");
  EXPECT_EQ(layerOf("lm_head"), "");
  EXPECT_EQ(layerOf("conv2d.x2"), "");
  EXPECT_EQ(layerOf(""), "");
}

const Stages units = {"wte", "",      "h.0.attn", "h.0.mlp", "",    "h.1.attn",
                      "h.1", "enc.0", "norm",     "head",    "loss"};

TEST(Layout, GivesEachUnitItsStage) {
  auto stages = stagesByLayout("E|t|tt|L", units, 2);
  ASSERT_TRUE(stages) << stages.error().str();
  EXPECT_EQ(*stages, (std::vector<int>{0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}));
  stages = stagesByLayout("Ett|tL", units, 1);
  ASSERT_TRUE(stages);
  EXPECT_EQ(*stages, (std::vector<int>{0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1}));
}

// What uses an earlier layer again stays where the order has come to.
TEST(Layout, NeverGoesBack) {
  auto stages = stagesByLayout("Et|tL", {"h.0", "h.1", "h.0", "head"}, 2);
  ASSERT_TRUE(stages);
  EXPECT_EQ(*stages, (std::vector<int>{0, 1, 1, 1}));
}

TEST(Layout, RefusesWhatDoesNotFit) {
  auto error = [](std::string_view layout, const Stages &paths, int ranks) {
    auto stages = stagesByLayout(layout, paths, ranks);
    return stages ? std::string() : stages.error().str();
  };
  EXPECT_EQ(error("Et|tL", units, 2),
            "'pipeline_layout' expects as many t as the model has layers, 3, "
            "got 2\n  note: the first layer is 'h.0'");
  EXPECT_EQ(error("Et|L", {"embed", "head"}, 2),
            "'pipeline_layout' expects as many t as the model has layers, 0, "
            "got 1\n  note: no module of the model is a numbered part of a "
            "list");
  EXPECT_EQ(error("Et|tt|L", units, 2),
            "'pipeline_layout' expects a multiple of "
            "'pipeline_parallel_degree' 2 as number of stages, got 3");
  EXPECT_EQ(error("E|ttL", {"h.0", "h.1", "head"}, 2),
            "'pipeline_layout' expects ops in each stage, got none in stage 0, "
            "'E'\n  note: the model computes nothing there; join it with a "
            "neighbour");
}

} // namespace
} // namespace smp::partition
