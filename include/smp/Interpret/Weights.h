//===- Weights.h - Values of parameters and states --------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_INTERPRET_WEIGHTS_H
#define SMP_INTERPRET_WEIGHTS_H

#include "mlir/IR/BuiltinOps.h"
#include "smp/Interpret/Tensor.h"
#include "smp/Support/Result.h"
#include "smp/Support/Safetensors.h"

namespace smp::interpret {

/// The parameters and states of a module, by canonical name.
struct ModelState {
  TensorMap parameters, states;
  /// Moments and momentum, as `<parameter>/<state>`; absent means zero.
  TensorMap optimizer;
};

/// Where the values of parameters come from.
struct WeightSource {
  enum class Kind { Reference, Random, File };
  Kind kind = Kind::Reference;
  uint64_t seed = 0; ///< of random ones
  std::string path;  ///< of a file

  /// "reference", "random" or the name of a safetensors file.
  static WeightSource parse(llvm::StringRef text, uint64_t seed);
};

/// Values for all `smp.parameter` and `smp.state` symbols of a module. A state
/// with a value in the module needs none elsewhere.
Result<ModelState> loadWeights(mlir::ModuleOp module,
                               const WeightSource &source);

/// The canonical name of each name under which a parameter is used.
std::map<std::string, std::string, std::less<>>
canonicalNames(mlir::ModuleOp module);

/// The tensors of a file whose names start with `prefix`, which is taken off.
Result<TensorMap> readTensors(const std::string &path,
                              llvm::StringRef prefix = "");

/// Writes tensors; lifted precision makes floating ones f64.
Status writeTensors(const std::string &path, const TensorMap &tensors,
                    bool lifted);

} // namespace smp::interpret

#endif // SMP_INTERPRET_WEIGHTS_H
