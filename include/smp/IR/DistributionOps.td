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
  let description = [{
    The same global value in another layout, with the cause of the change.
    Made by `differentiate` (and by `shard` once tensors are split);
    `distribute` makes it a collective or drops it.

    **Constraints**
    - reshard_c1: a split is along a dim of the operand.
    - reshard_c2: operand and result have the same type.

    **Example**
    ```mlir
    // given %x: tensor<4xf32>
    %r = smp.reshard %x from <rdp = partial> to <> because "gradient of 'w' over the replicas" : tensor<4xf32>
    ```
  }];
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
  let description = [{
    The sum over a group of what its ranks hold, added in ascending order of
    rank and given to all of them. Made by `distribute`; `emit` makes it a
    collective command.

    **Constraints**
    - all_reduce_c1: operand and result have the same type.

    **Example**
    ```mlir
    // given %x: tensor<4xf32>
    %r = smp.all_reduce %x over <rdp> because "gradient of 'w' over the replicas" : tensor<4xf32>
    ```
  }];
  let assemblyFormat = "$operand `over` $group `because` $cause attr-dict `:` type($result)";
}

def Smp_BroadcastOp : Smp_CollectiveOp<"broadcast", (ins I64Attr:$root)> {
  let summary = "the value of one rank of a group, given to all its ranks";
  let description = [{
    What the rank at position `root` of a group holds, given to all its
    ranks. Made by `distribute`; `emit` makes it a collective command.

    **Constraints**
    - broadcast_c1: `root` is not negative.
    - broadcast_c2: `root` is below the size of the group, where that is
      known: where the group restricts each of its axes.
    - broadcast_c3: operand and result have the same type.

    **Example**
    ```mlir
    // given %x: tensor<4xf32>
    %r = smp.broadcast %x over <pp{0, 1}> root 1 because "tied gradient" : tensor<4xf32>
    ```
  }];
  let assemblyFormat = "$operand `over` $group `root` $root `because` $cause attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Smp_AxisIndexOp : Smp_Op<"axis_index", [Pure]> {
  let summary = "the position of this rank on an axis: the only value that depends on the rank";
  let description = [{
    The position of this rank on an axis, on a restricted one among its
    members: the only value of a program that depends on the rank. May
    appear after `distribute`, which makes none while nothing is split over
    `tp`; only the interpreter gives it a meaning, on a rank that is no
    member none.

    **Example**
    ```mlir
    %i = smp.axis_index <rdp> : index
    ```
  }];
  let arguments = (ins Smp_AxisAttr:$axis);
  let results = (outs Index:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

#endif // SMP_IR_DISTRIBUTIONOPS_TD
