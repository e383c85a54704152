//===- EmitInterfaces.td - How ops become commands -*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_EMIT_EMITINTERFACES_TD
#define SMP_EMIT_EMITINTERFACES_TD

include "mlir/IR/OpBase.td"

def Smp_CommandOpInterface : OpInterface<"CommandOpInterface"> {
  let description = [{
    An op of a lowered program. Implemented by external models of the emitter's
    library.
  }];
  let cppNamespace = "::smp::emit";
  let methods = [
    InterfaceMethod<"Whether the result is the operand's memory under another shape.",
      "bool", "isView", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
      The operand whose memory a result takes always, because the command works
      in place; -1 where there is none.
    }], "int64_t", "getTiedOperand", (ins "unsigned":$result), [{}], [{ (void)result; return -1; }]>,
    InterfaceMethod<[{
      Whether a result may lie where an operand lies, because every place is read
      before it is written.
    }], "bool", "mayTakeMemory", (ins "unsigned":$result, "unsigned":$operand),
      [{}], [{ (void)result; (void)operand; return false; }]>,
    InterfaceMethod<"Appends the commands.", "void", "appendCommands",
      (ins "::smp::emit::CommandList &":$list), [{}], [{ (void)list; }]>,
  ];
}

#endif // SMP_EMIT_EMITINTERFACES_TD
