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

def Smp_ParameterOp : Smp_Op<"parameter", [Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a trained tensor, under its PyTorch name";
  let description = [{
    A tensor that is trained, unless `frozen`, under its PyTorch name;
    `aliases` are its other names where it is tied. Made by `import`; `emit`
    gives it a place in the arena of parameters.

    **Constraints**
    - parameter_c1: its shape is static.
    - parameter_c2: its elements are floating numbers unless it is `frozen`.
    - parameter_c3: a normal distribution has a finite mean and deviation, the
      latter not negative; the bounds of a uniform one are finite and ascend.
    - parameter_c4: no two names of the module's parameters are the same.
    - parameter_c5: the elements that the initialiser sets to zero are some of
      its own.

    **Example**
    ```mlir
    smp.parameter @"wte.weight" : tensor<64x8xf32> init #smp.init<normal, 0.0, 0.02> aliases ["lm_head.weight"]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Smp_Tensor>:$type, UnitAttr:$frozen,
                       OptionalAttr<Smp_InitAttr>:$init, DefaultValuedAttr<StrArrayAttr, "{}">:$aliases);
  let assemblyFormat = "$sym_name `:` $type (`frozen` $frozen^)? (`init` $init^)? (`aliases` $aliases^)? attr-dict";
  let hasVerifier = 1;
}

def Smp_StateOp : Smp_Op<"state", [Symbol]> {
  let summary = "a tensor that is not trained (a buffer), under its PyTorch name";
  let description = [{
    A tensor that is not trained (a buffer), under its PyTorch name, with
    its value where the export holds it. Made by `import`; `emit` gives it a
    place in the arena of state.

    **Constraints**
    - state_c1: its shape is static.
    - state_c2: its value is dense and of its type.

    **Example**
    ```mlir
    smp.state @"rotary.inv_freq" : tensor<2xf32> = dense<[1.0, 0.1]> : tensor<2xf32>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Smp_Tensor>:$type, OptionalAttr<ElementsAttr>:$value);
  let assemblyFormat = "$sym_name `:` $type (`=` $value^)? attr-dict";
  let hasVerifier = 1;
}

def Smp_GetParameterOp : Smp_Op<"get_parameter", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a parameter, used under one of its names";
  let description = [{
    The value of a parameter, read under one of its names. Made by `import`;
    `stage` makes it an argument of the functions that use it.

    **Constraints**
    - get_parameter_c1: the symbol is a `smp.parameter`.
    - get_parameter_c2: the result has the parameter's type.
    - get_parameter_c3: `alias` is a name of the parameter.

    **Example**
    ```mlir
    smp.parameter @w : tensor<4xf32> aliases ["head.w"]
    func.func @read() -> tensor<4xf32> {
      %r = smp.get_parameter @w as "head.w" : tensor<4xf32>
      return %r : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$parameter, StrAttr:$alias);
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$parameter `as` $alias attr-dict `:` type($result)";
}

def Smp_GetStateOp : Smp_Op<"get_state", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a state";
  let description = [{
    The value of a state. Made by `import`; `stage` makes it an argument of
    the functions that use it.

    **Constraints**
    - get_state_c1: the symbol is a `smp.state`.
    - get_state_c2: the result has the state's type.

    **Example**
    ```mlir
    smp.state @frequencies : tensor<4xf32>
    func.func @read() -> tensor<4xf32> {
      %r = smp.get_state @frequencies : tensor<4xf32>
      return %r : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$state);
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$state attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Chunks, ranks and schedules
//===----------------------------------------------------------------------===//

def Smp_ChunkOp : Smp_Op<"chunk", [Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a unit of code that one pp rank owns, and its programs";
  let description = [{
    A unit of code that one pp rank owns, and its programs: functions of the
    module. Made by `stage`, which sets `forward`, `count`, `evaluate` and
    `predict`, and completed by `differentiate` with `backward`; `emit`
    makes it a file of the job.

    **Constraints**
    - chunk_c1: its number and that of its rank are not negative.
    - chunk_c2: its programs are functions of the module, with a body.

    **Example**
    ```mlir
    func.func @chunk0_forward() { return }
    func.func @chunk0_backward() { return }
    smp.chunk @chunk0 0 on 0 forward @chunk0_forward backward @chunk0_backward
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$index, I64Attr:$rank,
                       OptionalAttr<FlatSymbolRefAttr>:$count, FlatSymbolRefAttr:$forward,
                       OptionalAttr<FlatSymbolRefAttr>:$backward, OptionalAttr<FlatSymbolRefAttr>:$evaluate,
                       OptionalAttr<FlatSymbolRefAttr>:$predict);
  let assemblyFormat = "$sym_name $index `on` $rank `forward` $forward (`backward` $backward^)? (`count` $count^)? (`evaluate` $evaluate^)? (`predict` $predict^)? attr-dict";
  let hasVerifier = 1;
}

def Smp_RankOp : Smp_Op<"rank", [Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the programs of one pp rank that run once a step";
  let description = [{
    The programs that one pp rank runs once a step: `begin_step` before all
    microbatches, `update` after them. Made by `differentiate`; `emit` makes
    it a file of the job.

    **Constraints**
    - rank_c1: its number is not negative.
    - rank_c2: its programs are functions of the module, with a body.

    **Example**
    ```mlir
    func.func @rank0_begin_step() { return }
    func.func @rank0_update() { return }
    smp.rank @rank0 0 begin_step @rank0_begin_step update @rank0_update
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$index, FlatSymbolRefAttr:$begin_step, FlatSymbolRefAttr:$update);
  let assemblyFormat = "$sym_name $index `begin_step` $begin_step `update` $update attr-dict";
  let hasVerifier = 1;
}

def Smp_ScheduleOp : Smp_Op<"schedule", [Symbol, NoTerminator, SingleBlock, NoRegionArguments,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "for each pp rank the actions of one step, in order";
  let description = [{
    For each pp rank the actions of one step: `train`, of one evaluation:
    `evaluate`, or of one prediction: `predict`. Made by `schedule`; `emit`
    makes it part of the job's schedule.

    **Constraints**
    - schedule_c1: its name is `train`, `evaluate` or `predict`.
    - schedule_c2: it holds one `smp.rank_schedule` for each rank from 0 on,
      in order, and nothing else.
    - schedule_c3: what one rank sends to another, that one receives in the
      same order: the same edges for the same microbatches.
    - schedule_c4: its body has no arguments.

    **Example**
    ```mlir
    func.func @chunk0_forward() { return }
    smp.chunk @chunk0 0 on 0 forward @chunk0_forward
    smp.schedule @train {
      smp.rank_schedule 0 {
        smp.load "ids" microbatch 0 slot 0 waits []
        smp.launch @chunk0_forward chunk 0 microbatch 0 slots {input.ids = 0 : i64} waits [0]
      }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name $body attr-dict";
  let hasRegionVerifier = 1;
}

def Smp_RankScheduleOp : Smp_Op<"rank_schedule", [NoTerminator, SingleBlock, NoRegionArguments, HasParent<"ScheduleOp">]> {
  let summary = "the actions of one pp rank";
  let description = [{
    The actions of one pp rank, in an order in which they may run one after
    the other; actions count from 0, and each lists those before it that it
    waits for. Made by `schedule`; `emit` makes it part of the job's
    schedule.

    **Constraints**
    - rank_schedule_c1: it holds actions only.
    - rank_schedule_c2: actions wait for actions before them.
    - rank_schedule_c3: it stands in a `smp.schedule`.
    - rank_schedule_c4: its body has no arguments.

    **Example**
    ```mlir
    smp.schedule @evaluate {
      smp.rank_schedule 0 {
        smp.load "ids" microbatch 0 slot 0 waits []
        smp.load "labels" microbatch 0 slot 0 waits [0]
      }
    }
    ```
  }];
  let arguments = (ins I64Attr:$rank);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$rank $body attr-dict";
  let hasRegionVerifier = 1;
}

class Smp_ActionOp<string mnemonic, dag particulars> : Smp_Op<mnemonic, [HasParent<"RankScheduleOp">]> {
  let arguments = !con(particulars, (ins DenseI64ArrayAttr:$waits));
}

def Smp_LaunchOp : Smp_ActionOp<"launch", (ins FlatSymbolRefAttr:$program, I64Attr:$chunk, I64Attr:$microbatch, DictionaryAttr:$slots)> {
  let summary = "runs a program for a microbatch";
  let description = [{
    Runs a program of a chunk for a microbatch, or one of a rank as that of
    chunk -1, with the slot of each arena that has several. Made by
    `schedule`; `emit` makes it part of the job's schedule.

    **Constraints**
    - launch_c1: the program is one of the chunk, or of a rank where `chunk`
      is -1.
    - launch_c2: chunk or rank belong to the rank in whose list it stands.
    - launch_c3: the microbatch is not negative.
    - launch_c4: slots are integers that are not negative.
    - launch_c5: it stands in a `smp.rank_schedule`.

    **Example**
    ```mlir
    func.func @chunk0_forward() { return }
    smp.chunk @chunk0 0 on 0 forward @chunk0_forward
    smp.schedule @train {
      smp.rank_schedule 0 {
        smp.launch @chunk0_forward chunk 0 microbatch 1 slots {stash.c0 = 1 : i64} waits []
      }
    }
    ```
  }];
  let assemblyFormat = "$program `chunk` $chunk `microbatch` $microbatch `slots` $slots `waits` $waits attr-dict";
  let hasVerifier = 1;
}

class Smp_TransferOp<string mnemonic> : Smp_ActionOp<mnemonic, (ins StrAttr:$edge, I64Attr:$peer, I64Attr:$microbatch, I64Attr:$slot)> {
  let assemblyFormat = "$edge `peer` $peer `microbatch` $microbatch `slot` $slot `waits` $waits attr-dict";
  let hasVerifier = 1;
}

def Smp_SendOp : Smp_TransferOp<"send"> {
  let summary = "gives the boundary values of a microbatch to a peer";
  let description = [{
    Gives the boundary values of a microbatch, those of `edge` in a slot, to
    the pp rank `peer`. Made by `schedule`; `emit` makes it part of the
    job's schedule.

    **Constraints**
    - send_c1: the peer is another rank of the schedule.
    - send_c2: microbatch and slot are not negative.
    - send_c3: it stands in a `smp.rank_schedule`.

    **Example**
    ```mlir
    smp.schedule @train {
      smp.rank_schedule 0 {
        smp.send "act.c0-c1" peer 1 microbatch 0 slot 0 waits []
      }
      smp.rank_schedule 1 {
        smp.recv "act.c0-c1" peer 0 microbatch 0 slot 0 waits []
      }
    }
    ```
  }];
}

def Smp_RecvOp : Smp_TransferOp<"recv"> {
  let summary = "takes the boundary values of a microbatch from a peer";
  let description = [{
    Takes the boundary values of a microbatch, those of `edge`, from the pp
    rank `peer` into a slot. Made by `schedule`; `emit` makes it part of the
    job's schedule.

    **Constraints**
    - recv_c1: the peer is another rank of the schedule.
    - recv_c2: microbatch and slot are not negative.
    - recv_c3: it stands in a `smp.rank_schedule`.

    **Example**
    ```mlir
    smp.schedule @train {
      smp.rank_schedule 0 {
        smp.send "act.c0-c1" peer 1 microbatch 0 slot 0 waits []
      }
      smp.rank_schedule 1 {
        smp.recv "act.c0-c1" peer 0 microbatch 0 slot 0 waits []
      }
    }
    ```
  }];
}

def Smp_LoadOp : Smp_ActionOp<"load", (ins StrAttr:$input, I64Attr:$microbatch, I64Attr:$slot)> {
  let summary = "reads a model input of a microbatch";
  let description = [{
    Reads a model input of a microbatch into a slot. Made by `schedule`;
    `emit` makes it part of the job's schedule.

    **Constraints**
    - load_c1: microbatch and slot are not negative.
    - load_c2: it stands in a `smp.rank_schedule`.

    **Example**
    ```mlir
    smp.schedule @train {
      smp.rank_schedule 0 {
        smp.load "ids" microbatch 0 slot 0 waits []
      }
    }
    ```
  }];
  let assemblyFormat = "$input `microbatch` $microbatch `slot` $slot `waits` $waits attr-dict";
  let hasVerifier = 1;
}

#endif // SMP_IR_PROGRAMOPS_TD
