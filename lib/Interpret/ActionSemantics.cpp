//===- ActionSemantics.cpp - Actions of schedules -------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

namespace smp::interpret {

namespace {

struct LaunchModel : ActionOpInterface::ExternalModel<LaunchModel, LaunchOp> {
  FailureOr<bool> start(Operation *op, ActionRunner &runner,
                        size_t rank) const {
    return runner.launch(rank, cast<LaunchOp>(op));
  }
  std::string getQueue(Operation *) const { return "compute"; }
  bool isImmediate(Operation *) const { return false; }
};

struct LoadModel : ActionOpInterface::ExternalModel<LoadModel, LoadOp> {
  FailureOr<bool> start(Operation *op, ActionRunner &runner,
                        size_t rank) const {
    return runner.load(rank, cast<LoadOp>(op));
  }
  std::string getQueue(Operation *) const { return ""; }
  bool isImmediate(Operation *) const { return true; }
};

struct SendModel : ActionOpInterface::ExternalModel<SendModel, SendOp> {
  FailureOr<bool> start(Operation *op, ActionRunner &runner,
                        size_t rank) const {
    return runner.send(rank, cast<SendOp>(op));
  }
  std::string getQueue(Operation *op) const {
    return "send." + std::to_string(cast<SendOp>(op).getPeer());
  }
  bool isImmediate(Operation *) const { return true; }
};

struct RecvModel : ActionOpInterface::ExternalModel<RecvModel, RecvOp> {
  FailureOr<bool> start(Operation *op, ActionRunner &runner,
                        size_t rank) const {
    return runner.receive(rank, cast<RecvOp>(op));
  }
  std::string getQueue(Operation *op) const {
    return "recv." + std::to_string(cast<RecvOp>(op).getPeer());
  }
  bool isImmediate(Operation *) const { return true; }
};

} // namespace

void attachActionSemantics(MLIRContext *context) {
  LaunchOp::attachInterface<LaunchModel>(*context);
  LoadOp::attachInterface<LoadModel>(*context);
  SendOp::attachInterface<SendModel>(*context);
  RecvOp::attachInterface<RecvModel>(*context);
}

} // namespace smp::interpret
