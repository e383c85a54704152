//===- Layout.h - Megatron's layout string ----------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The language of Megatron-Core's --pipeline-model-parallel-layout:
//
//   "Et*3|(tt|)*2,t|L"   stages Ettt, tt, tt, t, L
//
// E is what comes before the layers, t the next layer, L what follows the last;
// `|` ends a stage, `*N` repeats the symbol or the group in parentheses before
// it, commas and spaces mean nothing. With pp ranks stage s lies on rank s mod
// pp: more stages than ranks are visited in turn, as virtual stages.
//
// A layer is a numbered child of the outermost list of modules that a path goes
// through: transformer.h.3 of transformer.h.3.attn. Several lists, as of an
// encoder and a decoder, follow each other.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_PARTITION_LAYOUT_H
#define SMP_PARTITION_LAYOUT_H

#include "smp/Support/Result.h"

#include <string>
#include <string_view>
#include <vector>

namespace smp::partition {

/// The symbols of each stage, "Ettt"; an error names what is wrong and where.
Result<std::vector<std::string>> parseLayout(std::string_view layout);

/// "transformer.h.3" of "transformer.h.3.attn.c_attn"; empty outside a list.
std::string_view layerOf(std::string_view path);

/// The stage of each unit, for units in the order in which they run, given by
/// their module paths. Ascending from 0 to one less than the number of stages.
/// An error when layout and model have other numbers of layers, when a stage
/// would have no unit, or when the stages are no multiple of `ranks`.
Result<std::vector<int>> stagesByLayout(std::string_view layout,
                                        const std::vector<std::string> &paths,
                                        int ranks);

} // namespace smp::partition

#endif // SMP_PARTITION_LAYOUT_H
