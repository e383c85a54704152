//===- CodegenInterfaces.td - How ops become kernels -*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_CODEGEN_CODEGENINTERFACES_TD
#define SMP_CODEGEN_CODEGENINTERFACES_TD

include "mlir/IR/OpBase.td"

def Smp_PointwiseOpInterface : OpInterface<"PointwiseOpInterface"> {
  let description = [{
    An op each of whose result elements is a formula of some operand elements.
    Such ops are fused into clusters over one iteration space, each evaluated
    where its consumers need it. Implemented by external models of the code
    generator's library.
  }];
  let cppNamespace = "::smp::codegen";
  let methods = [
    InterfaceMethod<[{
      Emits the elements of all results at one place of each lane. The formula
      is fixed and scalar: it does not depend on what is fused with it.
    }], "void", "emitElements",
      (ins "::smp::codegen::KernelEmitter &":$emitter,
           "const ::smp::codegen::Index &":$index,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$results)>,
    InterfaceMethod<[{
      Whether operands are read elsewhere than at the result's row-major
      position (scalars apart), so that the coordinates must be known.
    }], "bool", "needsCoordinates", (ins), [{}], [{ return true; }]>,
    InterfaceMethod<[{
      Whether an operand is read only at the place that is computed, so that the
      result may lie where the operand does.
    }], "bool", "readsSamePlace", (ins "unsigned":$operand), [{}], [{
      (void)operand;
      return !::mlir::cast<::smp::codegen::PointwiseOpInterface>($_op.getOperation()).needsCoordinates();
    }]>,
    InterfaceMethod<[{
      Whether the code depends on the number of elements; by default as soon as
      the coordinates are needed.
    }], "bool", "dependsOnShape", (ins), [{}], [{
      return ::mlir::cast<::smp::codegen::PointwiseOpInterface>($_op.getOperation()).needsCoordinates();
    }]>,
    InterfaceMethod<[{
      Whether the op only says where elements come from, so that computing it
      again in each consumer is no work.
    }], "bool", "isMove", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
      Appends the numbers that differ between uses of one kernel.
    }], "void", "getImmediates", (ins "::llvm::SmallVectorImpl<int64_t> &":$values),
      [{}], [{ (void)values; }]>,
  ];
}

def Smp_KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let description = [{
    An op with loops of its own: reductions, norms, softmaxes. It reads its
    operands through the emitter, so elementwise ops that feed it may be part of
    its kernel.
  }];
  let cppNamespace = "::smp::codegen";
  let methods = [
    InterfaceMethod<"How many independent pieces the work has.", "int64_t", "getTiles">,
    InterfaceMethod<"Emits the tiles from `begin` to before `end`.", "void", "emitTiles",
      (ins "::smp::codegen::KernelEmitter &":$emitter, "::mlir::Value":$begin, "::mlir::Value":$end)>,
    InterfaceMethod<[{
      The operand whose memory a result may take, because each place is read
      before it is written; -1 where there is none.
    }], "int64_t", "getInPlaceOperand", (ins "unsigned":$result), [{}], [{ return -1; }]>,
    InterfaceMethod<[{
      How often each element of an operand is read: producers of operands that
      are read once may be computed inside the kernel.
    }], "int64_t", "getReads", (ins "unsigned":$operand), [{}], [{ return 2; }]>,
    InterfaceMethod<"Appends the numbers that differ between uses of one kernel.", "void", "getImmediates",
      (ins "::llvm::SmallVectorImpl<int64_t> &":$values), [{}], [{ (void)values; }]>,
  ];
}

#endif // SMP_CODEGEN_CODEGENINTERFACES_TD
