//===- CountAllocations.cpp - Who asks for memory in a step ---------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A library to preload into smp-run. It stands before malloc and its relatives
// and before mmap, and counts the calls inside of steps from the second on. A
// call is charged to the first object on the stack that is not part of the C or
// C++ library: operator new in a vector of smp-run is smp-run's. A process
// writes one line a call site to a file of the folder SMP_ALLOCATIONS:
//
//   steps 4                               that were counted
//   2 /path/libmpi.so.40 malloc 0x1f2a0 0x5521
//
// which are count, object, function and the stack as offsets in their objects.
//
//===----------------------------------------------------------------------===//

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// What glibc calls them. NOLINTBEGIN(readability-identifier-naming)
extern "C" {
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
}
// NOLINTEND(readability-identifier-naming)

namespace {

constexpr int mostFrames = 32, mostSites = 1024;

struct Site {
  const char *function;
  std::array<void *, mostFrames> frames;
  int depth;
  int64_t count;
};

Site sites[mostSites];
int siteCount = 0;
std::atomic_flag lock = ATOMIC_FLAG_INIT;
std::atomic<int> countedSteps{0}, openSteps{0};

/// Threads of ranks count in their own steps, all others while any rank is in
/// one. These variables must not be allocated when they are first used.
enum class Place { Elsewhere, BetweenSteps, FirstStep, CountedStep };
#define STATIC_THREAD_LOCAL                                                    \
  static thread_local __attribute__((tls_model("initial-exec")))
STATIC_THREAD_LOCAL Place place = Place::Elsewhere;
STATIC_THREAD_LOCAL bool busy = false;

bool counts() {
  if (busy)
    return false;
  return place == Place::Elsewhere
             ? openSteps.load(std::memory_order_relaxed) > 0
             : place == Place::CountedStep;
}

__attribute__((noinline)) void note(const char *function) {
  busy = true;
  std::array<void *, mostFrames> frames = {};
  int depth = backtrace(frames.data(), mostFrames);
  while (lock.test_and_set(std::memory_order_acquire))
    ;
  int i = 0;
  while (i < siteCount &&
         (sites[i].function != function || sites[i].frames != frames))
    ++i;
  if (i == siteCount && siteCount < mostSites)
    sites[siteCount++] = {function, frames, depth, 0};
  // With the table full the last site stands for the others.
  ++sites[i < mostSites ? i : mostSites - 1].count;
  lock.clear(std::memory_order_release);
  busy = false;
}

bool isStandard(const char *object) {
  const char *name = std::strrchr(object, '/');
  name = name ? name + 1 : object;
  for (const char *prefix : {"libc.so", "libc-", "libstdc++", "libm.so",
                             "ld-linux", "libgcc_s", "libSmpCountAllocations"})
    if (std::strncmp(name, prefix, std::strlen(prefix)) == 0)
      return true;
  return false;
}

void write(std::FILE *file, const Site &site) {
  const char *owner = nullptr;
  int first = 0;
  Dl_info info;
  for (; first < site.depth && !owner; ++first)
    if (dladdr(site.frames[first], &info) && info.dli_fname &&
        !isStandard(info.dli_fname))
      owner = info.dli_fname;
  std::fprintf(file, "%lld %s %s", static_cast<long long>(site.count),
               owner ? owner : "?", site.function);
  for (int i = first > 0 ? first - 1 : 0; i < site.depth; ++i)
    if (dladdr(site.frames[i], &info))
      std::fprintf(file, " %#lx",
                   static_cast<long>(static_cast<char *>(site.frames[i]) -
                                     static_cast<char *>(info.dli_fbase)));
  std::fprintf(file, "\n");
}

/// backtrace() itself allocates when it is first called.
__attribute__((constructor)) void begin() {
  void *frame = nullptr;
  backtrace(&frame, 1);
}

__attribute__((destructor)) void end() {
  const char *folder = std::getenv("SMP_ALLOCATIONS");
  if (!folder || countedSteps == 0)
    return;
  char path[4096];
  std::snprintf(path, sizeof path, "%s/%d", folder, getpid());
  std::FILE *file = std::fopen(path, "w");
  if (!file)
    std::abort();
  std::fprintf(file, "steps %d\n", countedSteps.load());
  for (int i = 0; i < siteCount; ++i)
    write(file, sites[i]);
  std::fclose(file);
}

} // namespace

extern "C" {

/// smp-run calls it where each step begins, and where it ends.
void smpStepListener(int64_t step, bool ends) {
  if (place == Place::CountedStep)
    --openSteps;
  place = ends       ? Place::BetweenSteps
          : step < 2 ? Place::FirstStep
                     : Place::CountedStep;
  if (place == Place::CountedStep) {
    ++openSteps;
    ++countedSteps;
  }
}

void *malloc(size_t bytes) {
  if (counts())
    note("malloc");
  return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
  if (counts())
    note("calloc");
  return __libc_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes) {
  if (counts())
    note("realloc");
  return __libc_realloc(memory, bytes);
}

void *memalign(size_t alignment, size_t bytes) {
  if (counts())
    note("memalign");
  return __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) {
  if (counts())
    note("aligned_alloc");
  return __libc_memalign(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  if (counts())
    note("posix_memalign");
  *memory = __libc_memalign(alignment, bytes);
  return *memory ? 0 : ENOMEM;
}

void *mmap(void *address, size_t bytes, int protection, int flags,
           int descriptor, off_t offset) {
  if (counts())
    note("mmap");
  // NOLINTNEXTLINE(performance-no-int-to-ptr): what the system call returns
  return reinterpret_cast<void *>(
      syscall(SYS_mmap, address, bytes, protection, flags, descriptor, offset));
}

void *mmap64(void *address, size_t bytes, int protection, int flags,
             int descriptor, off_t offset) {
  return mmap(address, bytes, protection, flags, descriptor, offset);
}

} // extern "C"
