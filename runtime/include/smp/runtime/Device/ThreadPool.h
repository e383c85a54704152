//===- ThreadPool.h - Compute threads that share out tiles ------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A task is a range of tiles. Threads take pieces of the oldest task that has
// tiles left, smaller ones towards its end, so that a thread that lost its
// core to another process delays little. A thread without work spins for a
// moment and then sleeps: spinning longer starves whoever shares the machine.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_DEVICE_THREADPOOL_H
#define SMP_RUNTIME_DEVICE_THREADPOOL_H

#include "smp/runtime/Device/Device.h"

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <list>
#include <mutex>
#include <thread>
#include <type_traits>

namespace smp::runtime {

class ThreadPool {
public:
  /// What computes tiles [begin, end): a function object of a few pointers,
  /// kept in place, so that starting a task asks for no memory.
  class Body {
  public:
    Body() = default;
    template <typename Function>
    Body(const Function &function)
        : call([](const void *function, int64_t begin, int64_t end) {
            (*static_cast<const Function *>(function))(begin, end);
          }) {
      static_assert(sizeof(Function) <= sizeof storage &&
                    std::is_trivially_copyable_v<Function>);
      std::memcpy(storage, &function, sizeof function);
    }
    void operator()(int64_t begin, int64_t end) const {
      call(storage, begin, end);
    }

  private:
    void (*call)(const void *function, int64_t begin, int64_t end) = nullptr;
    alignas(void *) std::byte storage[6 * sizeof(void *)];
  };

  /// A pool of `threads` compute threads, of which the caller is one: it takes
  /// part through `work`.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  int threads() const { return int(workers.size()) + 1; }
  /// Has memory for so many tasks at a time; more ask for it when they start.
  void reserve(size_t tasks);
  void start(const Body &body, int64_t tiles, uint64_t ticket);
  bool work();
  void poll(std::vector<Completion> &completions);
  void wait(int microseconds);

private:
  struct Task {
    Body body;
    int64_t tiles = 0, next = 0, done = 0;
    Completion completion;
  };
  using Tasks = std::list<Task>;
  struct Piece {
    Tasks::iterator task;
    int64_t begin = 0, end = 0;
    explicit operator bool() const { return begin < end; }
  };

  Piece take();
  void finish(const Piece &piece);
  void workerLoop();

  std::mutex mutex;
  std::condition_variable workAvailable, taskCompleted;
  Tasks tasks; ///< by start
  Tasks spare; ///< done, to be used again
  std::vector<Completion> completed;
  std::atomic<int> openTasks{0}; ///< with tiles to take
  std::atomic<int> completedCount{0};
  int sleepers = 0;
  bool stop = false;
  std::vector<std::thread> workers;
};

} // namespace smp::runtime

#endif // SMP_RUNTIME_DEVICE_THREADPOOL_H
