//===- InterpretInterfaces.td - What ops compute -*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_INTERPRET_INTERPRETINTERFACES_TD
#define SMP_INTERPRET_INTERPRETINTERFACES_TD

include "mlir/IR/OpBase.td"

def Smp_InterpretableOpInterface : OpInterface<"InterpretableOpInterface"> {
  let description = [{
    The reference semantics of an op on the tensors of one rank. Implemented by
    external models in the interpreter's library.
  }];
  let cppNamespace = "::smp::interpret";
  let methods = [
    InterfaceMethod<[{
      Computes the results from the operands and appends them. Floating elements
      need not be rounded to the result's type: the caller does that. Fails with
      a diagnostic where the operands' elements have no meaning.
    }], "::llvm::LogicalResult", "interpret",
      (ins "::llvm::ArrayRef<::smp::interpret::Tensor>":$operands,
           "::llvm::SmallVectorImpl<::smp::interpret::Tensor> &":$results,
           "::smp::interpret::Context &":$context)>,
  ];
}

def Smp_CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let description = [{
    The reference semantics of an op that several ranks run together: each gives
    a tensor and gets a tensor.
  }];
  let cppNamespace = "::smp::interpret";
  let methods = [
    InterfaceMethod<"The ranks that take part, as axes of the grid.",
      "::smp::AxisGroup", "getParticipants">,
    InterfaceMethod<[{
      What the member at `position` gets, when `contributions[i]` comes from
      `members[i]`, in ascending order of rank.
    }], "::llvm::FailureOr<::smp::interpret::Tensor>", "combine",
      (ins "::llvm::ArrayRef<::smp::interpret::Tensor>":$contributions,
           "::llvm::ArrayRef<::smp::Coordinate>":$members, "size_t":$position)>,
  ];
}

def Smp_ActionOpInterface : OpInterface<"ActionOpInterface"> {
  let description = [{
    The reference semantics of an action of a schedule: what it asks of whoever
    runs the schedule.
  }];
  let cppNamespace = "::smp::interpret";
  let methods = [
    InterfaceMethod<[{
      Starts the action on a virtual rank; false while it has to wait for a
      peer.
    }], "::llvm::FailureOr<bool>", "start",
      (ins "::smp::interpret::ActionRunner &":$runner, "size_t":$rank)>,
    InterfaceMethod<[{
      The queue in which it stands: actions of one queue run in order. Empty
      where nothing but its waits holds it back.
    }], "std::string", "getQueue">,
    InterfaceMethod<[{
      Whether it is complete as soon as it has started.
    }], "bool", "isImmediate">,
  ];
}

#endif // SMP_INTERPRET_INTERPRETINTERFACES_TD
