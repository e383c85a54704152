//===- Programs.cpp - The programs of a scheduled module -------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"

using namespace mlir;
using namespace smp;
using namespace smp::emit;

static LogicalResult addProgram(Programs &programs, FlatSymbolRefAttr symbol,
                                StringRef name, int64_t chunk, int64_t rank) {
  if (!symbol)
    return success();
  auto function = programs.module.lookupSymbol<func::FuncOp>(symbol);
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (!function.getArgAttrOfType<BindingAttr>(i, kBindingAttr))
      return function.emitError()
             << "expects a binding of argument " << i << ", got none";
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (!function.getResultAttrOfType<BindingAttr>(i, kBindingAttr))
      return function.emitError()
             << "expects a binding of result " << i << ", got none";
  programs.all.push_back({function, name.str(), chunk, rank});
  return success();
}

static LogicalResult addChunk(Programs &programs, ChunkOp chunk) {
  std::pair<FlatSymbolRefAttr, StringRef> symbols[] = {
      {chunk.getCountAttr(), "count"},
      {chunk.getForwardAttr(), "forward"},
      {chunk.getBackwardAttr(), "backward"},
      {chunk.getEvaluateAttr(), "evaluate"},
      {chunk.getPredictAttr(), "predict"}};
  programs.rankOfChunk.push_back(chunk.getRank());
  programs.ranks =
      std::max<int64_t>(programs.ranks, int64_t(chunk.getRank()) + 1);
  for (auto [symbol, name] : symbols)
    if (failed(addProgram(programs, symbol, name, chunk.getIndex(),
                          chunk.getRank())))
      return failure();
  return success();
}

FailureOr<Programs> Programs::collect(ModuleOp module) {
  Programs programs;
  programs.module = module;
  auto chunks = llvm::to_vector(module.getOps<ChunkOp>());
  llvm::sort(chunks,
             [](ChunkOp a, ChunkOp b) { return a.getIndex() < b.getIndex(); });
  for (auto [index, chunk] : llvm::enumerate(chunks)) {
    if (chunk.getIndex() != index)
      return chunk.emitOpError()
             << "expects chunks numbered from 0, got " << chunk.getIndex();
    if (failed(addChunk(programs, chunk)))
      return failure();
  }
  for (RankOp rank : module.getOps<RankOp>()) {
    programs.ranks =
        std::max<int64_t>(programs.ranks, int64_t(rank.getIndex()) + 1);
    if (failed(addProgram(programs, rank.getBeginStepAttr(), "begin_step", -1,
                          rank.getIndex())) ||
        failed(addProgram(programs, rank.getUpdateAttr(), "update", -1,
                          rank.getIndex())))
      return failure();
  }
  for (ParameterOp parameter : module.getOps<ParameterOp>()) {
    std::string name = parameter.getSymName().str();
    programs.parameters.push_back(parameter);
    programs.canonical[name] = name;
    for (Attribute alias : parameter.getAliases())
      programs.canonical[cast<StringAttr>(alias).str()] = name;
  }
  return programs;
}
