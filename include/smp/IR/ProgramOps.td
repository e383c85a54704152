//===- ProgramOps.td - Parameters, chunks and schedules -*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IR_PROGRAMOPS_TD
#define SMP_IR_PROGRAMOPS_TD

include "smp/IR/SmpAttrs.td"

include "mlir/IR/RegionKindInterface.td"

//===----------------------------------------------------------------------===//
// Parameters and state
//===----------------------------------------------------------------------===//

def Smp_ParameterOp : Smp_Op<"parameter", [Symbol]> {
  let summary = "a trained tensor, under its PyTorch name";
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Smp_Tensor>:$type, UnitAttr:$frozen,
                       OptionalAttr<Smp_InitAttr>:$init, DefaultValuedAttr<StrArrayAttr, "{}">:$aliases);
  let assemblyFormat = "$sym_name `:` $type (`frozen` $frozen^)? (`init` $init^)? (`aliases` $aliases^)? attr-dict";
}

def Smp_StateOp : Smp_Op<"state", [Symbol]> {
  let summary = "a tensor that is not trained (a buffer), under its PyTorch name";
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Smp_Tensor>:$type, OptionalAttr<ElementsAttr>:$value);
  let assemblyFormat = "$sym_name `:` $type (`=` $value^)? attr-dict";
}

def Smp_GetParameterOp : Smp_Op<"get_parameter", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a parameter, used under one of its names";
  let arguments = (ins FlatSymbolRefAttr:$parameter, StrAttr:$alias);
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$parameter `as` $alias attr-dict `:` type($result)";
}

def Smp_GetStateOp : Smp_Op<"get_state", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a state";
  let arguments = (ins FlatSymbolRefAttr:$state);
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$state attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Chunks, ranks and schedules
//===----------------------------------------------------------------------===//

def Smp_ChunkOp : Smp_Op<"chunk", [Symbol]> {
  let summary = "a unit of code that one pp rank owns, and its programs";
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$index, I64Attr:$rank,
                       OptionalAttr<FlatSymbolRefAttr>:$count, FlatSymbolRefAttr:$forward,
                       OptionalAttr<FlatSymbolRefAttr>:$backward, OptionalAttr<FlatSymbolRefAttr>:$evaluate,
                       OptionalAttr<FlatSymbolRefAttr>:$predict);
  let assemblyFormat = "$sym_name $index `on` $rank `forward` $forward (`backward` $backward^)? (`count` $count^)? (`evaluate` $evaluate^)? (`predict` $predict^)? attr-dict";
}

def Smp_RankOp : Smp_Op<"rank", [Symbol]> {
  let summary = "the programs of one pp rank that run once a step";
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$index, FlatSymbolRefAttr:$begin_step, FlatSymbolRefAttr:$update);
  let assemblyFormat = "$sym_name $index `begin_step` $begin_step `update` $update attr-dict";
}

def Smp_ScheduleOp : Smp_Op<"schedule", [Symbol, SymbolTable, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "for each pp rank the actions of one step, in order";
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name $body attr-dict";
}

def Smp_RankScheduleOp : Smp_Op<"rank_schedule", [NoTerminator, SingleBlock, NoRegionArguments, HasParent<"ScheduleOp">]> {
  let summary = "the actions of one pp rank";
  let arguments = (ins I64Attr:$rank);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$rank $body attr-dict";
}

class Smp_ActionOp<string mnemonic, dag particulars> : Smp_Op<mnemonic, [HasParent<"RankScheduleOp">]> {
  let arguments = !con(particulars, (ins DenseI64ArrayAttr:$waits));
}

def Smp_LaunchOp : Smp_ActionOp<"launch", (ins FlatSymbolRefAttr:$program, I64Attr:$chunk, I64Attr:$microbatch, DictionaryAttr:$slots)> {
  let summary = "runs a program for a microbatch";
  let assemblyFormat = "$program `chunk` $chunk `microbatch` $microbatch `slots` $slots `waits` $waits attr-dict";
}

class Smp_TransferOp<string mnemonic> : Smp_ActionOp<mnemonic, (ins StrAttr:$edge, I64Attr:$peer, I64Attr:$microbatch, I64Attr:$slot)> {
  let assemblyFormat = "$edge `peer` $peer `microbatch` $microbatch `slot` $slot `waits` $waits attr-dict";
}
def Smp_SendOp : Smp_TransferOp<"send"> { let summary = "gives the boundary values of a microbatch to a peer"; }
def Smp_RecvOp : Smp_TransferOp<"recv"> { let summary = "takes the boundary values of a microbatch from a peer"; }

def Smp_LoadOp : Smp_ActionOp<"load", (ins StrAttr:$input, I64Attr:$microbatch, I64Attr:$slot)> {
  let summary = "reads a model input of a microbatch";
  let assemblyFormat = "$input `microbatch` $microbatch `slot` $slot `waits` $waits attr-dict";
}

#endif // SMP_IR_PROGRAMOPS_TD
