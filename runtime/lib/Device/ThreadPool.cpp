//===- ThreadPool.cpp - Compute threads that share out tiles --------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Device/ThreadPool.h"
#include "smp/Support/Signals.h"
#include "smp/runtime/Trace/Trace.h"

#include <algorithm>

using namespace smp;
using namespace smp::runtime;

/// How long a thread spins before it sleeps, in microseconds.
static constexpr double spinTime = 20;

static void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Spins until `condition` holds or the time is up.
template <typename Condition> static bool spinUntil(Condition condition) {
  for (double end = traceNow() + spinTime; traceNow() < end;)
    for (int i = 0; i < 16; ++i) {
      if (condition())
        return true;
      relax();
    }
  return condition();
}

ThreadPool::ThreadPool(int threads) {
  for (int i = 1; i < threads; ++i)
    workers.emplace_back([this] {
      leaveSignalsToOthers();
      workerLoop();
    });
}

ThreadPool::~ThreadPool() {
  {
    std::scoped_lock lock(mutex);
    stop = true;
  }
  workAvailable.notify_all();
  for (std::thread &worker : workers)
    worker.join();
}

void ThreadPool::reserve(size_t count) {
  std::scoped_lock lock(mutex);
  while (tasks.size() + spare.size() < count)
    spare.emplace_back();
  completed.reserve(count);
}

void ThreadPool::start(const Body &body, int64_t tiles, uint64_t ticket) {
  int wake = 0;
  {
    std::scoped_lock lock(mutex);
    if (spare.empty())
      spare.emplace_back();
    Task &task = spare.front();
    task = {};
    task.body = body;
    task.tiles = tiles;
    task.completion.ticket = ticket;
    tasks.splice(tasks.end(), spare, spare.begin());
    openTasks.fetch_add(1, std::memory_order_relaxed);
    wake = int(std::min<int64_t>(sleepers, tiles));
  }
  for (; wake > 0; --wake)
    workAvailable.notify_one();
}

/// Called under the lock.
ThreadPool::Piece ThreadPool::take() {
  for (auto task = tasks.begin(); task != tasks.end(); ++task) {
    int64_t left = task->tiles - task->next;
    if (left == 0)
      continue;
    if (task->next == 0)
      task->completion.begin = traceNow();
    int64_t share = int64_t(2) * threads();
    int64_t count = (left + share - 1) / share;
    Piece piece{task, task->next, task->next + count};
    task->next += count;
    if (count == left)
      openTasks.fetch_sub(1, std::memory_order_relaxed);
    return piece;
  }
  return {};
}

/// Called under the lock.
void ThreadPool::finish(const Piece &piece) {
  Task &task = *piece.task;
  task.done += piece.end - piece.begin;
  if (task.done < task.tiles)
    return;
  task.completion.end = traceNow();
  completed.push_back(task.completion);
  completedCount.fetch_add(1, std::memory_order_release);
  spare.splice(spare.begin(), tasks, piece.task);
  taskCompleted.notify_one();
}

bool ThreadPool::work() {
  Piece piece;
  {
    std::scoped_lock lock(mutex);
    piece = take();
  }
  if (!piece)
    return false;
  piece.task->body(piece.begin, piece.end);
  std::scoped_lock lock(mutex);
  finish(piece);
  return true;
}

void ThreadPool::workerLoop() {
  std::unique_lock lock(mutex);
  while (!stop) {
    if (Piece piece = take()) {
      lock.unlock();
      piece.task->body(piece.begin, piece.end);
      lock.lock();
      finish(piece);
      continue;
    }
    lock.unlock();
    spinUntil([&] { return openTasks.load(std::memory_order_relaxed) > 0; });
    lock.lock();
    ++sleepers;
    workAvailable.wait(lock, [&] {
      return stop || openTasks.load(std::memory_order_relaxed) > 0;
    });
    --sleepers;
  }
}

void ThreadPool::poll(std::vector<Completion> &completions) {
  if (completedCount.load(std::memory_order_acquire) == 0)
    return;
  std::scoped_lock lock(mutex);
  completions.insert(completions.end(), completed.begin(), completed.end());
  completed.clear();
  completedCount.store(0, std::memory_order_relaxed);
}

void ThreadPool::wait(int microseconds) {
  auto ready = [&] {
    return completedCount.load(std::memory_order_acquire) > 0;
  };
  if (spinUntil(ready))
    return;
  std::unique_lock lock(mutex);
  taskCompleted.wait_for(lock, std::chrono::microseconds(microseconds), ready);
}
