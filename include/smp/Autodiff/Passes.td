//===- Passes.td - Passes that differentiate -----------------*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_AUTODIFF_PASSES_TD
#define SMP_AUTODIFF_PASSES_TD

include "mlir/Pass/PassBase.td"

def DifferentiatePass : Pass<"smp-differentiate", "::mlir::ModuleOp"> {
  let summary = "gives chunks their backward programs and ranks their updates";
  let description = [{
    Takes a staged module: chunks with closed forward functions. For each chunk
    the forward function is changed to return what its backward needs, to
    divide mean-type losses by the counts of the whole step and to accumulate
    the loss; the backward function is built beside it. For each pp rank the
    programs `begin_step` and `update` are built, with the optimizer of the
    module's attribute `smp.optimizer` (AdamW without clipping when absent).

    Cotangents of a value are added in the order of its uses, last use first,
    also across chunks, so that the cut changes no bit of any gradient.

    Example, shortened:

    ```mlir
    smp.chunk @chunk0 0 on 0 forward @chunk0_forward count @chunk0_count
    // becomes
    smp.chunk @chunk0 0 on 0 forward @chunk0_forward backward @chunk0_backward count @chunk0_count
    smp.rank @rank0 0 begin_step @rank0_begin_step update @rank0_update
    ```
  }];
  let dependentDialects = ["::smp::SmpDialect", "::mlir::func::FuncDialect"];
}

def ValueAndGradientPass : Pass<"smp-value-and-gradient", "::mlir::ModuleOp"> {
  let summary = "lets a whole model return the gradients of its loss as well";
  let description = [{
    Appends to the results of a function of a model, whose result of role `loss`
    is differentiated, the gradient of each trained parameter under each name by
    which it is used. The result for the name `w` is called `grad.w` and has the
    role `gradient`. For tests and for studying a model; a training job is built
    by `smp-differentiate`.
  }];
  let options = [
    Option<"function", "function", "std::string", "\"train\"",
           "Name of the function">];
  let dependentDialects = ["::smp::SmpDialect", "::mlir::func::FuncDialect"];
}

#endif // SMP_AUTODIFF_PASSES_TD
