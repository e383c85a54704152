//===- Autocast.h - The casts of torch.autocast -----------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inside `torch.autocast` products are computed in a narrow type and what needs
// precision in float32; the graph shows that in the types of results only:
//
//   x: f32, w: f32    linear(x, w) ─► bf16    both are cast to bf16
//   x: bf16           exp(x)       ─► f32     cast to f32, as CUDA does
//   x: bf16           exp(x)       ─► bf16    nothing, as CPUs do
//
// So the result decides, and the importer, which compares types, refuses what
// this table does not foresee.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_IMPORT_AUTOCAST_H
#define SMP_LIB_IMPORT_AUTOCAST_H

#include "smp/Import/ExportedGraph.h"

namespace smp::pt2 {

/// Casts the arguments of a node that autocast with this narrow type would
/// cast; the casts go to the end of `nodes`.
void castArguments(Node &node, DataType narrow, TensorMetas &tensors,
                   std::vector<Node> &nodes);

} // namespace smp::pt2

#endif // SMP_LIB_IMPORT_AUTOCAST_H
