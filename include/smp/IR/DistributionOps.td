//===- DistributionOps.td - Changes of layout and collectives -*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IR_DISTRIBUTIONOPS_TD
#define SMP_IR_DISTRIBUTIONOPS_TD

include "smp/IR/SmpAttrs.td"

def Smp_ReshardOp : Smp_Op<"reshard", [Pure, SameOperandsAndResultType]> {
  let summary = "the same global value in another layout";
  let arguments = (ins Smp_Tensor:$operand, Smp_LayoutAttr:$from, Smp_LayoutAttr:$to, StrAttr:$cause);
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$operand `from` $from `to` $to `because` $cause attr-dict `:` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

class Smp_CollectiveOp<string mnemonic, dag extra = (ins)> : Smp_Op<mnemonic, [SameOperandsAndResultType]> {
  let arguments = !con((ins Smp_Tensor:$operand, Smp_GroupAttr:$group), extra, (ins StrAttr:$cause));
  let results = (outs Smp_Tensor:$result);
}

def Smp_AllReduceOp : Smp_CollectiveOp<"all_reduce"> {
  let summary = "sum over a group, in ascending order of rank, given to all its ranks";
  let assemblyFormat = "$operand `over` $group `because` $cause attr-dict `:` type($result)";
}

def Smp_BroadcastOp : Smp_CollectiveOp<"broadcast", (ins I64Attr:$root)> {
  let summary = "the value of one rank of a group, given to all its ranks";
  let assemblyFormat = "$operand `over` $group `root` $root `because` $cause attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Smp_AxisIndexOp : Smp_Op<"axis_index", [Pure]> {
  let summary = "the position of this rank on an axis: the only value that depends on the rank";
  let arguments = (ins Smp_AxisAttr:$axis);
  let results = (outs Index:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

#endif // SMP_IR_DISTRIBUTIONOPS_TD
