//===- InlineRegions.h - Regions that nodes run -----------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A raw graph holds the bodies of `with torch.no_grad()` and `with
// torch.autocast(...)` as graphs of their own. Here they become nodes of the
// graph around them; what the region meant becomes explicit:
//
//   y = wrap_with_set_grad_enabled(False, {t = mul(x, w); return t}, x, w)
// becomes
//   t = mul(x, w)       marked as free of gradients
//   y = detach(t)
//
//   y = wrap_with_autocast("cpu", bf16, True, True, {return linear(x, w)}, x,
//   w)
// becomes
//   x1 = _to_copy(x, bf16);  w1 = _to_copy(w, bf16);  y = linear(x1, w1)
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_IMPORT_INLINEREGIONS_H
#define SMP_LIB_IMPORT_INLINEREGIONS_H

#include "smp/Import/ExportedGraph.h"

namespace smp::pt2 {

/// A node that runs a graph in another way keeps it, with a refusal.
void inlineRegions(ExportedGraph &graph);

} // namespace smp::pt2

#endif // SMP_LIB_IMPORT_INLINEREGIONS_H
