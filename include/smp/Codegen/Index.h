//===- Index.h - Places of elements, sixteen lanes at once ------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Generated code handles sixteen elements at a time. An `Index` says which: one
// coordinate per dim, or one row-major position (`flat`) where no op needs the
// dims. A coordinate is affine in the lane where possible, because that decides
// whether memory is read by a scalar load, a vector load or a gather:
//
//   base + lane · laneStride        laneStride 0: the same for all lanes
//   lanes                           any vector of sixteen positions
//
//===----------------------------------------------------------------------===//

#ifndef SMP_CODEGEN_INDEX_H
#define SMP_CODEGEN_INDEX_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <tuple>
#include <vector>

namespace smp::codegen {

struct Coordinate {
  mlir::Value base; ///< i64
  int64_t laneStride = 0;
  mlir::Value lanes;     ///< vector<16xi64>; `base` is then null
  int64_t alignment = 1; ///< a divisor of `base` known when compiling

  bool isUniform() const { return !lanes && laneStride == 0; }
  bool isContiguous() const { return !lanes && laneStride == 1; }
};

struct Index {
  llvm::SmallVector<Coordinate, 4> coordinates;
  bool flat = false;

  static Index makeFlat(Coordinate position) {
    Index index;
    index.coordinates.push_back(position);
    index.flat = true;
    return index;
  }

  /// Equal keys mean equal places.
  using Key = std::vector<std::tuple<const void *, int64_t, const void *>>;
  Key key() const {
    Key result;
    result.emplace_back(nullptr, flat, nullptr);
    for (const Coordinate &c : coordinates)
      result.emplace_back(c.base.getAsOpaquePointer(), c.laneStride,
                          c.lanes.getAsOpaquePointer());
    return result;
  }
};

} // namespace smp::codegen

#endif // SMP_CODEGEN_INDEX_H
