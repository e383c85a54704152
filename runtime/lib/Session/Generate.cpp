//===- Generate.cpp - Text from a trained model ---------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Support/Philox.h"
#include "smp/runtime/Session/Session.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace smp;
using namespace smp::runtime;

/// Apart from all groups of jobs, whose ids are small.
static constexpr int generationGroup = (1 << 20) - 2;

/// Instead of a token: one rank decides for all when to stop.
static constexpr int64_t stopToken = -1;

namespace smp::runtime {

/// Runs `predict` once per token on the first replica; its window of tokens
/// slides once the text is longer than the model's sequence.
class Generator {
public:
  explicit Generator(Session &session) : session(session) {}

  /// What the job and the prompt must be; the same on all ranks.
  Status check(const Session::GenerateOptions &options);
  Status prepare(const Session::GenerateOptions &options);
  Result<std::string> run(const Session::GenerateOptions &options);

private:
  Status predict();
  int64_t choose(int64_t step, double temperature) const;

  Session &session;
  const Output *logits = nullptr;
  std::optional<Group> replica;
  int64_t length = 0, vocabulary = 0;
  std::string text;
};

} // namespace smp::runtime

Status Generator::check(const Session::GenerateOptions &options) {
  const Job &job = session.theJob;
  const InputSpec *tokens = nullptr;
  for (const Input &input : job.inputs)
    if (input.spec.role == InputRole::Input)
      tokens = &input.spec;
  if (!job.data.tokens || !tokens || tokens->rowShape.size() != 1)
    return Error{"expects a model of tokens to generate text, got one of "
                 "arrays"};
  length = tokens->rowShape[0];
  for (const Output &output : job.outputs)
    if (!logits && output.shape.size() == 3 && output.shape[1] == length &&
        output.type == DataType::F32)
      logits = &output;
  if (!logits)
    return Error{"expects an output of shape [rows, " + std::to_string(length) +
                 ", vocabulary] to generate text, got none"};
  vocabulary = logits->shape[2];
  if (vocabulary > 256)
    return Error{
        "expects a vocabulary of at most 256 (tokens are bytes), got " +
        std::to_string(vocabulary)};
  if (options.prompt.empty())
    return Error{"expects a prompt of at least one byte, got an empty one",
                 "give one: --prompt 'Once upon a time'"};
  for (unsigned char byte : options.prompt)
    if (byte >= vocabulary)
      return Error{"expects prompt bytes below the vocabulary " +
                   std::to_string(vocabulary) + ", got " +
                   std::to_string(int(byte))};
  return {};
}

Status Generator::prepare(const Session::GenerateOptions &options) {
  SMP_RETURN_IF_ERROR(check(options));
  text = options.prompt;
  std::vector<int> members = session.theGrid->members(GroupKind::MP, 0);
  if (session.coordinate.rdp != 0)
    return {};
  SMP_ASSIGN_OR_RETURN(replica,
                       session.theComm.createGroup(members, generationGroup));
  return {};
}

Status Generator::predict() {
  StepInput input;
  input.state = [&](int64_t microbatch) {
    return session.context.state(0, 0, microbatch);
  };
  input.load = [&](const LoadAction &load, int64_t, void *rows) -> Status {
    const InputSpec &spec = session.theJob.inputs[load.input].spec;
    int64_t width = byteWidth(spec.type), elements = session.context.rows;
    for (int64_t extent : spec.rowShape)
      elements *= extent;
    std::memset(rows, 0, size_t(elements * width));
    if (spec.role != InputRole::Input)
      return {};
    size_t first = text.size() > size_t(length) ? text.size() - length : 0;
    std::vector<int64_t> window;
    for (size_t i = first; i < text.size(); ++i)
      window.push_back(static_cast<unsigned char>(text[i]));
    convertElements(DataType::I64, window.data(), spec.type, rows,
                    int64_t(window.size()));
    return {};
  };
  return session.executor->run(session.rankJob.predict, input);
}

/// The next token from the logits of the window's last position.
int64_t Generator::choose(int64_t step, double temperature) const {
  int64_t position = std::min<int64_t>(int64_t(text.size()), length) - 1;
  auto *row = reinterpret_cast<const float *>(session.arenas->at(logits->ref)) +
              position * vocabulary;
  int64_t best = std::max_element(row, row + vocabulary) - row;
  if (temperature <= 0)
    return best;
  std::vector<double> weights;
  double sum = 0;
  for (int64_t i = 0; i < vocabulary; ++i) {
    weights.push_back(std::exp((row[i] - row[best]) / temperature));
    sum += weights.back();
  }
  PhiloxKey key = philoxKey(session.seed(), fnv1a64("generate"));
  double left = double(philoxUniform(key, 0, uint64_t(step))) * sum;
  for (int64_t i = 0; i < vocabulary; ++i) {
    left -= weights[size_t(i)];
    if (left < 0)
      return i;
  }
  return best;
}

Result<std::string> Generator::run(const Session::GenerateOptions &options) {
  Comm &comm = session.theComm;
  Coordinate source = session.coordinate;
  source.pp = int(logits->rank);
  const std::vector<int> &members = replica->members();
  int root = int(std::ranges::find(members, session.theGrid->rank(source)) -
                 members.begin());
  for (int64_t step = 0; step < options.count; ++step) {
    SMP_RETURN_IF_ERROR(predict());
    int64_t token = 0;
    if (session.ppRank() == logits->rank)
      token = options.stop && options.stop()
                  ? stopToken
                  : choose(step, options.temperature);
    SMP_RETURN_IF_ERROR(
        comm.wait(comm.broadcast(*replica, DataType::I64, &token, 1, root)));
    if (token == stopToken)
      break;
    text += char(static_cast<unsigned char>(token));
  }
  return text;
}

Status Session::checkGeneration(const GenerateOptions &options) {
  return agree(theComm, Generator(*this).check(options));
}

Result<std::string> Session::generate(const GenerateOptions &options) {
  Generator generator(*this);
  SMP_RETURN_IF_ERROR(agree(theComm, generator.prepare(options)));
  std::string text;
  if (coordinate.rdp == 0) {
    SMP_ASSIGN_OR_RETURN(text, generator.run(options));
  }
  return theComm.broadcastObject(theComm.world(), text, 0);
}
