//===- Functionalize.h - Mutation as new values -----------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A raw graph changes tensors in place, also through views. Afterwards every
// value is computed once and never changes:
//
//   z = new_zeros(x, [2, 8])
//   v = slice(z, 1, 1)                  v  = slice(z, 1, 1)
//   copy_(v, x)                 ─►      v1 = copy(v, x)
//                                       z1 = slice_scatter(z, v1, 1, 1)
//   y = mul(z, 2)                       y  = mul(z1, 2)
//
// Tensors that share memory are views of one root. A mutation gives the changed
// tensor a new value, which is written back from view to base up to the root;
// another view of that memory is made again from its base when it is next read.
// What cannot be proved right becomes a refusal of the node that needs it:
// memory that PyTorch may or may not share, views that cannot be written back,
// parameters, and changes behind the back of gradients.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_IMPORT_FUNCTIONALIZE_H
#define SMP_LIB_IMPORT_FUNCTIONALIZE_H

#include "smp/Import/ExportedGraph.h"

namespace smp::pt2 {

/// Regions must have been inlined. A buffer that changes becomes an output that
/// `mutates` it.
void functionalize(ExportedGraph &graph);

} // namespace smp::pt2

#endif // SMP_LIB_IMPORT_FUNCTIONALIZE_H
