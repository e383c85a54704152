//===- SmpBase.td - Dialect, types and op classes -*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IR_SMPBASE_TD
#define SMP_IR_SMPBASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "smp/IR/SmpInterfaces.td"

def Smp_Dialect : Dialect {
  let name = "smp";
  let summary = "Training graphs, their distribution and their programs";
  let description = [{
    The dialect holds a model from import to emission: *model* ops (what the
    network computes) with their gradient ops, *distribution* ops (layouts and
    collectives) and *program* ops (parameters, chunks, schedules).

    Values are builtin ranked tensors. Model ops are pure and functional; the
    operands of an elementwise op have equal shapes and broadcasting is an op of
    its own (`smp.expand`). Until `specialize`, sizes that depend on the batch
    are dynamic; an op that cannot infer such a size takes it as an `index`
    operand.

    Every model op carries `scope`, the path of the module that it came from;
    every op that draws random numbers carries `site`, their key. Both are set
    by import and kept by every pass.
  }];
  let cppNamespace = "::smp";
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerAttentionOps();
    void registerBatchNormOps();
    void registerConvolutionOps();
    void registerDistributionOps();
    void registerElementwiseOps();
    void registerIndexOps();
    void registerLossOps();
    void registerLoweredOps();
    void registerNormOps();
    void registerOptimizerOps();
    void registerProductOps();
    void registerProgramOps();
    void registerRandomOps();
    void registerReductionOps();
    void registerShapeOps();
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect"];
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Smp_Float : AnyTypeOf<[F32, F64, BF16, F16]>;
def Smp_Int : AnyTypeOf<[I1, I32, I64]>;
def Smp_Element : AnyTypeOf<[F32, F64, BF16, F16, I1, I8, I32, I64]>;

def Smp_Tensor : RankedTensorOf<[Smp_Element]>;
def Smp_FloatTensor : RankedTensorOf<[F32, F64, BF16, F16]>;
def Smp_IntTensor : RankedTensorOf<[I1, I8, I32, I64]>;
def Smp_IndexTensor : RankedTensorOf<[I32, I64]>;
def Smp_BoolTensor : RankedTensorOf<[I1]>;

/// A number of a step, such as the learning rate.
def Smp_Scalar : Type<And<[IsRankedTensorTypePred,
    CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getRank() == 0">,
    CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getElementType().isF64()">]>,
    "scalar f64 tensor", "::mlir::RankedTensorType">,
    BuildableType<"::mlir::RankedTensorType::get({}, $_builder.getF64Type())">;

/// How many elements a sum of losses is over.
def Smp_Count : Type<And<[IsRankedTensorTypePred,
    CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getRank() == 0">,
    CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getElementType().isInteger(64)">]>,
    "scalar i64 tensor", "::mlir::RankedTensorType">,
    BuildableType<"::mlir::RankedTensorType::get({}, $_builder.getI64Type())">;

//===----------------------------------------------------------------------===//
// Op classes
//===----------------------------------------------------------------------===//

class Smp_Op<string mnemonic, list<Trait> traits = []>
    : Op<Smp_Dialect, mnemonic, traits>;

/// For ops that say how they may be split.
def Smp_HasShardingRule : DeclareOpInterfaceMethods<Smp_ShardingRuleOpInterface, ["getShardingRule"]>;

/// An op of the model or of its gradient: pure, with a cost and a scope.
/// `operandsAndAttributes` are its arguments but for the scope.
class Smp_ModelOp<string mnemonic, dag operandsAndAttributes, list<Trait> traits = []>
    : Smp_Op<mnemonic, !listconcat([Pure, Smp_ModelOpInterface, Smp_CostOpInterface, Smp_ShardingRuleOpInterface], traits)> {
  let arguments = !con(operandsAndAttributes,
                       (ins DefaultValuedStrAttr<StrAttr, "">:$scope));
}

/// A model op that gradients flow through.
class Smp_DifferentiableOp<string mnemonic, dag operandsAndAttributes, list<Trait> traits = []>
    : Smp_ModelOp<mnemonic, operandsAndAttributes,
                  !listconcat([DeclareOpInterfaceMethods<Smp_DifferentiableOpInterface,
                                                         ["buildGradient", "getSavedValues"]>],
                              traits)>;

#endif // SMP_IR_SMPBASE_TD
