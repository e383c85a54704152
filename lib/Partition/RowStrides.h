//===- RowStrides.h - Where the rows of a batch lie in a value -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Models move the dim that goes over the rows of the batch, behind that of time
// for example, and merge it with others. In the row-major order of a value's
// places all that is one number, the stride s: place i belongs to row
//
//   (i / s) mod rows
//
//   [rows, 6, 8]                       s = 48
//   [6, rows, 8]      transposed       s = 8
//   [6 * rows, 8]     and reshaped     s = 8
//   [6 * rows, 32]    and projected    s = 32
//
// Which places of a result a row decides is said by the rule by which the op
// may be split: a dim that has rows must not be summed over or needed whole.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_PARTITION_ROWSTRIDES_H
#define SMP_LIB_PARTITION_ROWSTRIDES_H

#include "smp/IR/SmpDialect.h"

#include "llvm/ADT/DenseMap.h"

namespace smp {

/// The strides of the values of a graph of static shapes, whose inputs have the
/// rows first.
class RowStrides {
public:
  explicit RowStrides(int64_t rows) : rows(rows) {}

  /// None where no rows are to be found, where they lie otherwise, or where a
  /// place depends on several rows.
  std::optional<int64_t> strideOf(mlir::Value value) {
    Places places = placesOf(value);
    return places.kind == Places::OfRows ? std::optional(places.stride)
                                         : std::nullopt;
  }

private:
  struct Places {
    enum Kind { OfNoRow, OfRows, Mixed } kind = OfNoRow;
    int64_t stride = 0;
  };
  Places placesOf(mlir::Value value);
  Places compute(mlir::Value value);
  /// Where the rows of one operand go.
  Places through(mlir::OpOperand &operand, mlir::OpResult result);

  int64_t rows;
  llvm::DenseMap<mlir::Value, Places> known;
};

} // namespace smp

#endif // SMP_LIB_PARTITION_ROWSTRIDES_H
