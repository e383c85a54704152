//===- Programs.h - What a virtual rank holds -------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_INTERPRET_PROGRAMS_H
#define SMP_LIB_INTERPRET_PROGRAMS_H

#include "smp/Interpret/Execute.h"
#include "smp/Interpret/Weights.h"

namespace smp::interpret {

/// Which execution of a program: of a chunk (or -1) for a microbatch.
struct Launch {
  mlir::func::FuncOp program;
  int64_t chunk = -1;
  int64_t microbatch = 0;
  /// The slot of each slotted arena, where there is a schedule.
  mlir::DictionaryAttr slots = nullptr;
};

/// What one virtual rank holds between launches.
class RankMemory {
public:
  RankMemory(const ModelState &model,
             const std::map<std::string, std::string, std::less<>> &canonical)
      : canonical(canonical), parameters(model.parameters),
        states(model.states), optimizer(model.optimizer) {}
  virtual ~RankMemory() = default;

  /// Forgets what lives for one step.
  virtual void beginStep();

  /// The value of an argument, or null with a diagnostic.
  llvm::FailureOr<Tensor> read(const Launch &launch, unsigned argument);
  llvm::LogicalResult write(const Launch &launch, unsigned result,
                            Tensor value);

  /// Gradients, losses, counts and metrics of the step, by key.
  const TensorMap &step(BindingKind kind) { return stepValues[kind]; }
  /// Parameters by canonical name; those that the rank has updated.
  const TensorMap &heldParameters() const { return parameters; }
  /// The optimizer's state of these.
  const TensorMap &updatedOptimizer() const { return updatedState; }
  const std::vector<std::string> &updatedParameters() const { return updated; }
  /// The states that the step has changed, as they are now.
  const TensorMap &changedStates() const { return changed; }

  /// The rows of a model input for a microbatch.
  std::function<llvm::FailureOr<Tensor>(llvm::StringRef, int64_t)> loadInput;

protected:
  /// Where values that live for one microbatch lie; null if nowhere.
  virtual const Tensor *readTransient(const Launch &launch,
                                      BindingAttr binding) = 0;
  virtual llvm::LogicalResult
  writeTransient(const Launch &launch, BindingAttr binding, Tensor value) = 0;
  virtual llvm::FailureOr<Tensor> readInput(const Launch &launch,
                                            BindingAttr binding) {
    return loadInput(binding.getKey(), launch.microbatch);
  }

private:
  const std::map<std::string, std::string, std::less<>> &canonical;
  TensorMap parameters, states, optimizer;
  std::map<BindingKind, TensorMap> stepValues;
  std::vector<std::string> updated;
  TensorMap updatedState, changed;
};

/// The values of a microbatch under their keys, the boundaries shared by the
/// ranks of one replica: what programs mean without a schedule.
using MicrobatchValues =
    std::map<std::tuple<int64_t, BindingKind, int64_t, std::string>, Tensor>;

class SharedMemory : public RankMemory {
public:
  SharedMemory(const ModelState &model,
               const std::map<std::string, std::string, std::less<>> &canonical,
               std::shared_ptr<MicrobatchValues> values)
      : RankMemory(model, canonical), values(std::move(values)) {}

  void beginStep() override {
    RankMemory::beginStep();
    values->clear();
  }

protected:
  const Tensor *readTransient(const Launch &launch,
                              BindingAttr binding) override;
  llvm::LogicalResult writeTransient(const Launch &launch, BindingAttr binding,
                                     Tensor value) override;

private:
  std::shared_ptr<MicrobatchValues> values;
};

/// The binding of an argument or result of a program; null with a diagnostic.
BindingAttr argumentBinding(mlir::func::FuncOp program, unsigned index);
BindingAttr resultBinding(mlir::func::FuncOp program, unsigned index);

} // namespace smp::interpret

#endif // SMP_LIB_INTERPRET_PROGRAMS_H
