//===- Session.h - A job in memory on one rank ------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything a rank needs to train, evaluate and generate: job, arenas,
// device, executor, data. All ranks call the same functions in the same order;
// functions that can fail on one rank alone end with an agreement, so that all
// ranks return the same error and nobody waits for a rank that gave up.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_SESSION_SESSION_H
#define SMP_RUNTIME_SESSION_SESSION_H

#include "smp/Support/Safetensors.h"
#include "smp/runtime/Checkpoint/Checkpoint.h"
#include "smp/runtime/Data/Batches.h"
#include "smp/runtime/Data/Dataset.h"
#include "smp/runtime/Data/SampleOrder.h"
#include "smp/runtime/Executor/Executor.h"
#include "smp/runtime/Step/Step.h"

namespace smp::runtime {

struct SessionOptions {
  int threads = 1;
  std::optional<uint64_t> seed; ///< default: the job's
  int64_t steps = 0;            ///< of the run, for rate schedules
  Phases phases;                ///< there is memory for these
  std::optional<uint64_t> orderSeed;
  bool poison = false;
  bool trace = false;
};

/// What one update returned.
struct StepResult {
  double loss = 0;
  std::optional<double> gradientNorm;
  int64_t samples = 0; ///< of the batch
  /// The norm is not finite: the update was left out, on all ranks.
  bool leftOut = false;
  bool interrupted = false; ///< some rank was asked to stop
};

/// All ranks return the first error of any of them.
Status agree(Comm &comm, const Status &status);

/// Whether every rank of the caller's run has this error, from `agree`: one
/// rank is enough to print it.
bool isAgreed(const Error &error);

/// What becomes of the last batch of the data if it is a smaller one: it is
/// padded or, where the model cannot tell padded rows, refused; training may
/// leave it out (`drop_last`).
enum class LastBatch { OfTraining, OfEvaluation, Dropped };

class Session {
public:
  static Result<std::unique_ptr<Session>> create(const std::string &directory,
                                                 Comm &comm,
                                                 const SessionOptions &options);

  const Job &job() const { return theJob; }
  const Grid &grid() const { return *theGrid; }
  Comm &comm() { return theComm; }
  Trace *trace() { return theTrace ? &*theTrace : nullptr; }
  uint64_t seed() const { return context.seed; }
  const StepContext &stepContext() const { return context; }
  /// Tokens, or rows where the data are arrays, of the update of this step.
  int64_t unitsOf(int64_t step) const;

  // Weights (SessionWeights.cpp).

  /// Initial values: "random", "reference" or a safetensors file. Returns the
  /// names in the file that the job does not use.
  Result<std::vector<std::string>> initialize(const std::string &source);
  Status save(const std::string &directory, const Progress &progress);
  Result<Resumed> resume(const std::string &directory);
  /// Writes all parameters under PyTorch's names to one file, from rank 0.
  Status dumpParameters(const std::string &path);

  // Steps (SessionSteps.cpp).

  Status openTrainingData(const std::string &path,
                          DataOrder order = DataOrder::Shuffled);
  Status openEvaluationData(const std::string &path);
  /// Where sampling continues: after `progress`, with its seed.
  void setProgress(const Progress &progress);
  Progress progressAfter(int64_t step) const;
  Result<StepResult> trainStep(int64_t step, bool interrupted);
  /// An error if running averages are not finite: they follow the forward pass,
  /// whether an update is left out or not.
  Status checkStates(int64_t step);
  /// The loss over the whole evaluation file: of each term the mean over what
  /// it counts. None if some rank was asked to `stop` meanwhile.
  Result<std::optional<double>> evaluate(int64_t step,
                                         bool (*stop)() = nullptr);

  // Generation (Generate.cpp).

  struct GenerateOptions {
    std::string prompt;
    int64_t count = 0;
    double temperature = 0; ///< 0: the most likely
    /// Whether to end with the text so far.
    bool (*stop)() = nullptr;
  };
  /// Whether `generate` can do this, before anything is trained for it.
  Status checkGeneration(const GenerateOptions &options);
  /// Continues the prompt; the text is returned on every rank.
  Result<std::string> generate(const GenerateOptions &options);

private:
  explicit Session(Comm &comm) : theComm(comm) {}
  Status read(const std::string &directory);
  Status open(const std::string &directory, const SessionOptions &options);

  unsigned ppRank() const { return unsigned(coordinate.pp); }
  bool consumesInputs(const Schedule &schedule) const;
  Result<std::unique_ptr<Dataset>> openData(const std::string &path) const;
  Status initializeLocally(const std::string &source,
                           std::vector<std::string> &unused);
  Status initializeStates();
  void collectTensors(std::vector<TensorView> &model,
                      std::vector<TensorView> &optimizer) const;
  std::vector<LoadTarget> modelTargets();
  Result<Status> receiveStages(const std::string &path,
                               std::vector<SafetensorsFile> &parts);
  std::vector<LoadTarget> optimizerTargets();
  Status runEvaluation(int64_t step, int64_t pass);
  Result<bool> runPasses(int64_t step, int64_t passes, bool (*stop)());
  /// The rows of a step; the most of one on ranks without data.
  Batch batchOf(int64_t step) const;
  Result<int64_t> agreeOnSize(const std::string &path, const Dataset *data,
                              const Schedule &schedule, int64_t rows,
                              LastBatch last);
  /// Of one pass of evaluation, over all owners.
  int64_t evaluationRows() const {
    return context.owners * context.microbatches * context.rows;
  }
  /// Sums of `values` over all ranks, in ascending rank order.
  Status sumOverWorld(std::span<double> values, int64_t step);
  /// The scalar if this rank holds it, else null.
  const std::byte *scalar(const std::string &name) const;

  friend class Generator;

  Comm &theComm;
  Job theJob;
  std::optional<Grid> theGrid;
  Coordinate coordinate;
  RankJob rankJob;
  Phases phases; ///< what `arenas` have memory for
  std::optional<Arenas> arenas;
  std::unique_ptr<Device> device;
  std::optional<Trace> theTrace;
  std::unique_ptr<Executor> executor;
  StepContext context;
  Progress begin; ///< where this run began
  std::unique_ptr<Dataset> training, evaluation;
  std::optional<SampleOrder> trainingOrder;
  std::optional<Batches> batches;
  std::vector<Sample> samples; ///< of the rows being loaded
  int64_t evaluationSize = 0;  ///< samples, known on all ranks
};

} // namespace smp::runtime

#endif // SMP_RUNTIME_SESSION_SESSION_H
