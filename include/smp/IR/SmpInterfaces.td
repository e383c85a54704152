//===- SmpInterfaces.td - What every op answers about itself -*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IR_SMPINTERFACES_TD
#define SMP_IR_SMPINTERFACES_TD

include "mlir/IR/OpBase.td"

def Smp_ModelOpInterface : OpInterface<"ModelOpInterface"> {
  let description = [{
    An op of the model: knows the module path it came from. Passes that create
    model ops copy the scope of the op they replace (`copyScope`).
  }];
  let cppNamespace = "::smp";
  let methods = [
    InterfaceMethod<"Module path, such as `transformer.h.0.mlp`; may be empty.",
      "::llvm::StringRef", "getScope">,
    InterfaceMethod<"Sets the module path.", "void", "setScope",
      (ins "::llvm::StringRef":$scope)>,
  ];
}

def Smp_CostOpInterface : OpInterface<"CostOpInterface"> {
  let description = [{
    What an op costs, from its shapes alone. Partitioning, printing and
    prediction call it; the op needs static shapes. Elementwise ops need only
    state their floating-point operations per result element.
  }];
  let cppNamespace = "::smp";
  let methods = [
    InterfaceMethod<[{
      Floating-point operations; a multiply-add counts as two. Default: one for
      each element of the first result.
    }], "int64_t", "getFlops", (ins), [{}], [{
      return ::smp::detail::defaultFlops($_op);
    }]>,
    InterfaceMethod<[{
      Bytes read and written when the op runs alone. Default: all operands and
      results once.
    }], "int64_t", "getBytes", (ins), [{}], [{
      return ::smp::detail::defaultBytes($_op);
    }]>,
  ];
}

def Smp_ShardingRuleOpInterface : OpInterface<"ShardingRuleOpInterface"> {
  let description = [{
    How an op may be split: which dims of its operands and results are the same
    places, summed over, or needed whole (`smp/IR/ShardingRule.h`). `stage`
    follows the rows of a batch by it.
  }];
  let cppNamespace = "::smp";
  let methods = [
    InterfaceMethod<[{
      The rule. Default: all dims are equal places where the op is elementwise,
      else they are needed whole.
    }], "::smp::ShardingRule", "getShardingRule", (ins), [{}], [{
      return ::smp::detail::defaultShardingRule($_op);
    }]>,
  ];
}

def Smp_DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let description = [{
    The gradient of an op. `differentiate` calls it in reverse order of the
    forward function; partitioning calls `getSavedValues` to know what a stage
    keeps between forward and backward.
  }];
  let cppNamespace = "::smp";
  let methods = [
    InterfaceMethod<[{
      Builds the gradient of the op. `cotangents` has one entry for each result,
      null where the result has none; at least one is not null. For each operand
      with `wanted[i]`, sets `gradients[i]` to a value of the operand's type, or
      leaves it null when the gradient is zero. Both arrays have one entry for
      each operand. The op's own operands and results may be used; ones that are
      used must be listed by `getSavedValues`. Fails, with a diagnostic, where an
      operand is wanted that has no gradient yet.
    }], "::llvm::LogicalResult", "buildGradient",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ArrayRef<::mlir::Value>":$cotangents,
           "::mlir::ArrayRef<bool>":$wanted,
           "::mlir::MutableArrayRef<::mlir::Value>":$gradients)>,
    InterfaceMethod<[{
      Appends the operands and results that `buildGradient` reads for the
      operands in `wanted`.
    }], "void", "getSavedValues",
      (ins "::mlir::ArrayRef<bool>":$wanted,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$saved)>,
    InterfaceMethod<[{
      Whether gradients flow through a result. Default: through the first one;
      the others are statistics that only the gradient of the op reads.
    }], "bool", "isDifferentiableResult", (ins "unsigned":$index), [{}], [{
      return index == 0;
    }]>,
    InterfaceMethod<[{
      Whether the op exists to keep gradients from its operands. Default: no.
    }], "bool", "stopsGradient", (ins), [{}], [{
      return false;
    }]>,
  ];
}

def Smp_SizedOpInterface : OpInterface<"SizedOpInterface"> {
  let description = [{
    An op that takes the dynamic sizes of its result as `index` operands, in
    order of its dynamic dims. `specialize` turns constant ones into the type.
  }];
  let cppNamespace = "::smp";
  let methods = [
    InterfaceMethod<"The sizes of the dynamic dims.", "::mlir::OperandRange",
      "getSizes">,
    InterfaceMethod<"The sizes, to be changed.", "::mlir::MutableOperandRange",
      "getSizesMutable">,
  ];
}

#endif // SMP_IR_SMPINTERFACES_TD
