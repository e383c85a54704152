//===- SmpOps.td - The smp dialect -*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IR_SMPOPS_TD
#define SMP_IR_SMPOPS_TD

include "smp/IR/SmpAttrs.td"

include "smp/IR/ElementwiseOps.td"
include "smp/IR/ShapeOps.td"
include "smp/IR/ReductionOps.td"
include "smp/IR/ProductOps.td"
include "smp/IR/NormOps.td"
include "smp/IR/AttentionOps.td"
include "smp/IR/ConvolutionOps.td"
include "smp/IR/BatchNormOps.td"
include "smp/IR/IndexOps.td"
include "smp/IR/LossOps.td"
include "smp/IR/RandomOps.td"
include "smp/IR/OptimizerOps.td"
include "smp/IR/LoweredOps.td"
include "smp/IR/DistributionOps.td"
include "smp/IR/ProgramOps.td"

#endif // SMP_IR_SMPOPS_TD
