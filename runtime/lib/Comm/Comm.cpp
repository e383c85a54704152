//===- Comm.cpp - Messages and collectives between ranks ------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Comm/Comm.h"
#include "Operation.h"
#include "smp/runtime/Comm/Liveness.h"
#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

using namespace smp;
using namespace smp::runtime;

/// Blocks of operations and of their lists of messages; larger ones are rare.
static constexpr std::pmr::pool_options blockOptions = {
    .max_blocks_per_chunk = 256, .largest_required_pool_block = 4096};

Comm::Comm(std::unique_ptr<Wire> transport)
    : wire(std::move(transport)), blocks(blockOptions) {
  std::vector<int> ranks(size());
  std::iota(ranks.begin(), ranks.end(), 0);
  worldGroup.ranks = std::make_shared<const std::vector<int>>(std::move(ranks));
  worldGroup.self = rank();
  transfers.reserve(64);
}

Comm::~Comm() = default;

int Comm::rank() const { return wire->rank(); }
int Comm::size() const { return wire->size(); }

Result<Group> Comm::createGroup(std::vector<int> members, int id) const {
  if (id < 1 || id >= tagRange)
    return Error{"expects a group id in [1, " + std::to_string(tagRange) +
                 "), got " + std::to_string(id)};
  Group group;
  group.identifier = id;
  auto self = std::ranges::find(members, rank());
  if (self == members.end())
    return Error{"expects a group with rank " + std::to_string(rank()) +
                 " in it, got one of " + std::to_string(members.size()) +
                 " others"};
  for (size_t i = 0; i < members.size(); ++i)
    if (members[i] < 0 || members[i] >= size() ||
        (i && members[i] <= members[i - 1]))
      return Error{"expects ascending ranks below " + std::to_string(size()) +
                   " in a group, got " + std::to_string(members[i])};
  group.self = static_cast<int>(self - members.begin());
  group.ranks = std::make_shared<const std::vector<int>>(std::move(members));
  return group;
}

OperationMemory Comm::memoryOf(const Group &group) {
  return {blocks, queues[group.id()].staging};
}

Request Comm::start(const Group &group, std::shared_ptr<Operation> operation) {
  if (!operation->isDone()) {
    queues[group.id()].waiting.push_back(operation);
    advance();
  }
  return Request(std::move(operation));
}

static std::optional<Error> checkSum(DataType type, int64_t count) {
  if (type != DataType::F32 && type != DataType::F64 && type != DataType::I64)
    return Error{"a sum over ranks expects f32, f64 or i64, got " +
                 std::string(dataTypeName(type))};
  if (count < 0)
    return Error{"a collective expects a count of at least 0, got " +
                 std::to_string(count)};
  return std::nullopt;
}

Request Comm::allReduce(const Group &group, DataType type, void *buffer,
                        int64_t count) {
  if (auto error = checkSum(type, count))
    return Request(failedOperation(*error));
  return start(group,
               makeAllReduce(memoryOf(group), group, type, buffer, count));
}

Request Comm::reduceScatter(const Group &group, DataType type, void *buffer,
                            int64_t count) {
  if (auto error = checkSum(type, count))
    return Request(failedOperation(*error));
  return start(group,
               makeReduceScatter(memoryOf(group), group, type, buffer, count));
}

Request Comm::allGather(const Group &group, DataType type, void *buffer,
                        int64_t count) {
  return start(group,
               makeAllGather(memoryOf(group), group, type, buffer, count));
}

Request Comm::broadcast(const Group &group, DataType type, void *buffer,
                        int64_t count, int root) {
  if (root < 0 || root >= group.size())
    return Request(failedOperation(Error{"a broadcast expects a root below " +
                                         std::to_string(group.size()) +
                                         ", got " + std::to_string(root)}));
  return start(
      group, makeBroadcast(memoryOf(group), group, type, buffer, count, root));
}

Request Comm::barrier(const Group &group) {
  return start(group, makeBarrier(memoryOf(group), group));
}

static std::optional<Error> checkTransfer(const Comm &comm, int peer,
                                          int channel, int64_t bytes) {
  if (peer < 0 || peer >= comm.size() || peer == comm.rank())
    return Error{"a transfer expects another rank below " +
                 std::to_string(comm.size()) + ", got " + std::to_string(peer)};
  if (channel < 0 || channel >= tagRange || bytes < 0)
    return Error{"a transfer expects a channel below " +
                 std::to_string(tagRange) + " and at least 0 bytes, got " +
                 std::to_string(channel) + " and " + std::to_string(bytes)};
  return std::nullopt;
}

Request Comm::send(int peer, int channel, const void *data, int64_t bytes) {
  if (auto error = checkTransfer(*this, peer, channel, bytes))
    return Request(failedOperation(*error));
  transfers.push_back(makeTransfer(blocks, true, peer, channel,
                                   const_cast<void *>(data), bytes));
  Request request(transfers.back());
  advance();
  return request;
}

Request Comm::receive(int peer, int channel, void *data, int64_t bytes) {
  if (auto error = checkTransfer(*this, peer, channel, bytes))
    return Request(failedOperation(*error));
  transfers.push_back(makeTransfer(blocks, false, peer, channel, data, bytes));
  Request request(transfers.back());
  advance();
  return request;
}

void Comm::advance() {
  if (auto error = wire->aborted()) {
    for (auto &[id, queue] : queues)
      for (auto &operation : queue.waiting)
        operation->fail(*error);
    for (auto &operation : transfers)
      operation->fail(*error);
    for (auto &[id, queue] : queues)
      queue.waiting.clear();
    transfers.clear();
    return;
  }
  for (auto &[id, queue] : queues)
    while (!queue.waiting.empty()) {
      queue.waiting.front()->advance(*wire);
      if (!queue.waiting.front()->isDone())
        break;
      queue.waiting.erase(queue.waiting.begin());
    }
  // In the order started: a FIFO's messages must be posted in that order.
  std::erase_if(transfers, [this](const std::shared_ptr<Operation> &operation) {
    operation->advance(*wire);
    return operation->isDone();
  });
}

Result<bool> Comm::test(const Request &request) {
  advance();
  if (!request)
    return true;
  if (request.operation->error())
    return *request.operation->error();
  return request.operation->isDone();
}

int Comm::waitsFor(const Request &request) {
  return request ? request.operation->waitsFor() : -1;
}

/// Polls before a wait is recorded: most end sooner.
static constexpr int pollsUnsaid = 50;

Status Comm::wait(const Request &request) {
  for (int polls = 0;; ++polls) {
    SMP_ASSIGN_OR_RETURN(bool complete, test(request));
    if (complete) {
      if (polls > pollsUnsaid)
        setActivityPeer(phaseSlot, -1);
      return {};
    }
    if (polls >= pollsUnsaid)
      setActivityPeer(phaseSlot, waitsFor(request));
    // Ranks may share cores: give the peer a chance to run, and the longer the
    // wait has been, the less often look again.
    if (polls > 3000)
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    else if (polls > 1000)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    else if (polls > pollsUnsaid)
      std::this_thread::yield();
  }
}

Status Comm::failure() const {
  if (auto error = wire->aborted())
    return *error;
  return {};
}

Status Comm::progress() {
  advance();
  return failure();
}

void Comm::abort(const Error &error) {
  wire->abort(error);
  advance();
}

Result<std::vector<std::string>>
Comm::allGatherObjects(const Group &group, const std::string &object) {
  std::vector<int64_t> sizes(group.size());
  sizes[group.rank()] = static_cast<int64_t>(object.size());
  SMP_RETURN_IF_ERROR(wait(allGather(group, DataType::I64, sizes.data(), 1)));
  int64_t slot = std::ranges::max(sizes);
  std::string all(slot * group.size(), '\0');
  std::ranges::copy(object, all.begin() + slot * group.rank());
  SMP_RETURN_IF_ERROR(wait(allGather(group, DataType::U8, all.data(), slot)));
  std::vector<std::string> objects;
  objects.reserve(sizes.size());
  for (int i = 0; i < group.size(); ++i)
    objects.push_back(all.substr(slot * i, sizes[i]));
  return objects;
}

Result<std::string> Comm::broadcastObject(const Group &group,
                                          std::string object, int root) {
  auto size = static_cast<int64_t>(object.size());
  SMP_RETURN_IF_ERROR(wait(broadcast(group, DataType::I64, &size, 1, root)));
  object.resize(size);
  SMP_RETURN_IF_ERROR(
      wait(broadcast(group, DataType::U8, object.data(), size, root)));
  return object;
}

/// Objects travel as size and bytes on channels of their own.
static constexpr int objectChannel = tagRange - 1;

Status Comm::sendObject(int peer, const std::string &object) {
  auto size = static_cast<int64_t>(object.size());
  SMP_RETURN_IF_ERROR(wait(send(peer, objectChannel, &size, sizeof size)));
  return wait(send(peer, objectChannel, object.data(), size));
}

Result<std::string> Comm::receiveObject(int peer) {
  int64_t size = 0;
  SMP_RETURN_IF_ERROR(wait(receive(peer, objectChannel, &size, sizeof size)));
  std::string object(size, '\0');
  SMP_RETURN_IF_ERROR(wait(receive(peer, objectChannel, object.data(), size)));
  return object;
}
