//===- Passes.td - Passes on costs ---------------------------*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_COST_PASSES_TD
#define SMP_COST_PASSES_TD

include "mlir/Pass/PassBase.td"

def PrintCostPass : Pass<"smp-print-cost", "::mlir::ModuleOp"> {
  let summary = "prints what a model costs, by module and by kind of op";
  let description = [{
    Prints to the standard output, for each module path with what lies inside
    it, and for each kind of op: parameters (a tied one is counted once, where
    its own name is), floating-point operations and bytes moved of the forward
    pass, and bytes that it keeps for the backward pass. Shapes must be static
    (`smp-specialize`). The module is not changed.

    Example: `smp-opt model.mlir --smp-specialize=rows=4 --smp-print-cost -o /dev/null`
  }];
  let options = [
    Option<"function", "function", "std::string", "\"train\"",
           "Name of the function">,
    Option<"format", "format", "std::string", "\"text\"",
           "'text', or 'json': an object with 'total', 'modules' and 'ops'">];
}

#endif // SMP_COST_PASSES_TD
