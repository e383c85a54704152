//===- KernelEmitter.h - The code of one kernel -----------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes the body of a kernel in the dialects arith, math, scf, vector and
// llvm, always on vectors of sixteen lanes; the rest of a row is the same code
// with lanes masked off. So every element comes from the same sequence of
// operations, whatever the position in a row, the size of a tile and the
// neighbours in a cluster: the numerical contract holds by construction. No
// operation carries fast-math flags; sums go through sixteen partial sums that
// are added in a fixed tree.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_CODEGEN_KERNELEMITTER_H
#define SMP_CODEGEN_KERNELEMITTER_H

#include "smp/Codegen/Index.h"
#include "smp/IR/SmpDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>

namespace smp::codegen {

enum class Reduction { Sum, Max };

/// Fields of StepState, by position.
enum class StepField {
  Seed = 0,
  Step = 1,
  Microbatch = 2,
  SampleOffset = 3,
  LearningRate = 7,
  BiasCorrection1 = 8,
  BiasCorrection2 = 9
};

class KernelEmitter {
public:
  static constexpr int64_t lanes = 16;

  KernelEmitter(mlir::ImplicitLocOpBuilder &builder, mlir::Value immediates,
                mlir::Value stepState)
      : b(builder), immediateArray(immediates), stepState(stepState) {
    caches.emplace_back();
  }

  mlir::ImplicitLocOpBuilder &b;

  /// Where the elements of a cluster's operand or result lie.
  void bindPointer(mlir::Value tensor, mlir::Value pointer) {
    pointers[tensor] = pointer;
  }
  /// Which immediates belong to an op.
  void bindImmediates(mlir::Operation *op, int64_t first) {
    immediateIndex[op] = first;
  }

  //===--- Elements -------------------------------------------------------===//

  /// The elements of `tensor` at `index`: loaded, or computed by the op of the
  /// cluster that defines it.
  mlir::Value at(mlir::Value tensor, const Index &index);
  /// Of a tensor with one element.
  mlir::Value scalarAt(mlir::Value tensor);
  /// Writes elements of a result; nothing if the cluster does not yield it.
  void store(mlir::Value result, const Index &index, mlir::Value elements);
  /// The elements that a result has now.
  mlir::Value reload(mlir::Value result, const Index &index) {
    return load(result, index);
  }
  bool isStored(mlir::Value result) const { return pointers.count(result); }

  //===--- Positions ------------------------------------------------------===//

  Coordinate constant(int64_t value);
  Coordinate uniform(mlir::Value base, int64_t alignment = 1) {
    return Coordinate{base, 0, nullptr, alignment};
  }
  Coordinate add(const Coordinate &a, const Coordinate &c);
  Coordinate add(const Coordinate &a, int64_t value) {
    return add(a, constant(value));
  }
  Coordinate mul(const Coordinate &a, int64_t value);
  std::pair<Coordinate, Coordinate> divmod(const Coordinate &a, int64_t value);
  /// Into [low, high]; keeps lanes together where all of them are inside or
  /// outside at once.
  Coordinate clamp(const Coordinate &a, int64_t low, int64_t high);
  mlir::Value lanesOf(const Coordinate &a); ///< vector<16xi64>
  /// Compares lane by lane.
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, const Coordinate &a,
                      const Coordinate &c);

  Coordinate linearize(const Index &index, mlir::Value tensor);
  llvm::SmallVector<Coordinate, 4> delinearize(const Coordinate &position,
                                               llvm::ArrayRef<int64_t> shape);
  /// The coordinates, one per dim of `tensor`.
  llvm::SmallVector<Coordinate, 4> dims(const Index &index, mlir::Value tensor);
  Index fromDims(llvm::ArrayRef<Coordinate> coordinates) {
    Index index;
    index.coordinates.assign(coordinates.begin(), coordinates.end());
    return index;
  }

  //===--- Constants and arithmetic ---------------------------------------===//

  mlir::Value i64(int64_t value);
  mlir::Value immediate(mlir::Operation *op, int64_t which);
  mlir::Value immediate(int64_t position);
  mlir::Value stepField(StepField field, mlir::Type type);
  mlir::VectorType vectorOf(mlir::Type elementType) {
    return mlir::VectorType::get({lanes}, elementType);
  }
  /// All lanes the same number, of element type `type`.
  mlir::Value splat(double value, mlir::Type type);
  mlir::Value splat(mlir::Value scalar);
  mlir::Value first(mlir::Value vector);
  mlir::Value select(mlir::Value mask, mlir::Value a, mlir::Value c);
  /// Between element types; from and to vectors.
  mlir::Value convert(mlir::Value vector, mlir::Type elementType);

  //===--- Loops ----------------------------------------------------------===//

  using Body = llvm::function_ref<void(mlir::Value)>;
  using LaneBody = llvm::function_ref<void(const Coordinate &)>;

  void forRange(mlir::Value low, mlir::Value high, int64_t step, Body body);
  /// Carries values from iteration to iteration.
  llvm::SmallVector<mlir::Value> forCarried(
      mlir::Value low, mlir::Value high, int64_t step, mlir::ValueRange initial,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                        mlir::ValueRange)>
          body);
  /// Rows of tiles: calls `body` with each row of [0, rows) in the tiles
  /// [begin, end) of `rowsPerTile` rows.
  void forRows(mlir::Value begin, mlir::Value end, int64_t rowsPerTile,
               int64_t rows, Body body);
  /// Sixteen places at a time over [0, extent), the last ones masked.
  void forLanes(int64_t extent, LaneBody body);
  /// The same over [low, high), known when running; `low` is a multiple of
  /// `alignment`.
  void forLanes(mlir::Value low, mlir::Value high, LaneBody body,
                int64_t alignment = lanes);

  /// Reduces several expressions over [0, extent) in one loop. Lane l takes the
  /// places l, l + 16, ...; returns the sixteen partial results.
  using LaneValues =
      llvm::function_ref<llvm::SmallVector<mlir::Value>(const Coordinate &)>;
  llvm::SmallVector<mlir::Value> reducePartial(int64_t extent,
                                               llvm::ArrayRef<Reduction> kinds,
                                               LaneValues body);
  /// The partial results combined in a fixed tree; the same in all lanes.
  mlir::Value combineLanes(mlir::Value partial, Reduction kind);
  llvm::SmallVector<mlir::Value>
  reduceLanes(int64_t extent, llvm::ArrayRef<Reduction> kinds, LaneValues body);
  using LaneValue = llvm::function_ref<mlir::Value(const Coordinate &)>;
  mlir::Value reduceLanes(int64_t extent, Reduction kind, LaneValue body);
  /// Over [low, high), known when running, `low` a multiple of the lanes; the
  /// lanes that a row lacks change nothing, because they add the identity.
  mlir::Value reduceLanes(mlir::Value low, mlir::Value high, Reduction kind,
                          LaneValue body, mlir::Type elementType);
  mlir::Value combine(mlir::Value a, mlir::Value c, Reduction kind);
  mlir::Value identity(Reduction kind, mlir::Type elementType);

private:
  mlir::Value load(mlir::Value tensor, const Index &index);
  mlir::Value elementPointer(mlir::Value pointer, mlir::Type storage,
                             mlir::Value position);
  mlir::Value lanePointers(mlir::Value pointer, mlir::Type storage,
                           const Coordinate &position);
  mlir::Value fullMask();
  /// Splits [low, high) into whole vectors and a rest: returns the end of the
  /// whole ones and the length of the rest.
  std::pair<mlir::Value, mlir::Value> splitRange(mlir::Value low,
                                                 mlir::Value high);
  mlir::Value lanesBelow(mlir::Value count);
  void withCache(llvm::function_ref<void()> emit);
  void masked(mlir::Value mask, llvm::function_ref<void()> emit);

  mlir::Value immediateArray, stepState;
  mlir::Value activeMask; ///< null: all lanes
  llvm::DenseMap<mlir::Value, mlir::Value> pointers;
  llvm::DenseMap<mlir::Operation *, int64_t> immediateIndex;
  /// What is already computed, innermost loop last.
  using CacheKey = std::pair<mlir::Operation *, Index::Key>;
  std::vector<std::map<CacheKey, llvm::SmallVector<mlir::Value>>> caches;
};

} // namespace smp::codegen

#include "smp/Codegen/CodegenInterfaces.h.inc"

#endif // SMP_CODEGEN_KERNELEMITTER_H
