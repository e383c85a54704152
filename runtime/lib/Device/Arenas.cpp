//===- Arenas.cpp - The memory of one rank --------------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Device/Arenas.h"
#include "smp/Support/MappedFile.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <utility>

using namespace smp;
using namespace smp::runtime;

static constexpr size_t hugePage = size_t(1) << 21;

/// Maps `bytes`, aligned for huge pages; null when there is not so much.
static std::byte *mapHuge(size_t bytes) {
  size_t reserved = bytes + hugePage;
  void *memory = mmap(nullptr, reserved, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  auto *begin = static_cast<std::byte *>(memory);
  constexpr size_t page = 4096;
  size_t before = -reinterpret_cast<uintptr_t>(memory) & (hugePage - 1);
  size_t end = (before + bytes + page - 1) & ~(page - 1);
  std::byte *result = begin + before;
  if (before > 0)
    munmap(begin, before);
  if (reserved > end)
    munmap(begin + end, reserved - end);
  madvise(result, bytes, MADV_HUGEPAGE); // refused: small pages do as well
  return result;
}

static Status fillConstants(const std::vector<Arena> &arenas,
                            const std::string &directory,
                            const Arenas &memory) {
  MappedFile file;
  for (unsigned i = 0; i < arenas.size(); ++i) {
    if (!arenas[i].constants)
      continue;
    if (file.path().empty()) {
      SMP_ASSIGN_OR_RETURN(file,
                           MappedFile::open(directory + "/constants.bin"));
    }
    auto [offset, bytes] = *arenas[i].constants;
    int64_t size = int64_t(file.bytes().size());
    if (offset > size || bytes > size - offset)
      return Error{"'" + file.path() + "': expects " + std::to_string(bytes) +
                       " bytes at offset " + std::to_string(offset) +
                       " for arena '" + arenas[i].name + "', got a file of " +
                       std::to_string(size) + " bytes",
                   "the job folder is damaged: compile the job again"};
    std::memcpy(memory.base(i), file.bytes().data() + offset, size_t(bytes));
  }
  return {};
}

Result<Arenas> Arenas::allocate(const std::vector<Arena> &arenas,
                                const std::string &directory,
                                const Phases &phases) {
  Arenas memory;
  for (const Arena &arena : arenas) {
    memory.strides.push_back(arena.stride);
    memory.sizes.push_back(arena.bytes(phases));
    memory.total += memory.sizes.back();
  }
  if (memory.total > 0) {
    memory.mapping = mapHuge(size_t(memory.total));
    if (!memory.mapping)
      return Error{"cannot allocate the planned " +
                       std::to_string(memory.total) +
                       " bytes: " + std::strerror(errno),
                   "more pipeline stages, fewer rows per microbatch or "
                   "'optimize=memory' need less"};
  }
  std::byte *next = memory.mapping;
  for (int64_t bytes : memory.sizes) {
    memory.bases.push_back(next);
    next += bytes;
  }
  SMP_RETURN_IF_ERROR(fillConstants(arenas, directory, memory));
  return memory;
}

void Arenas::release() {
  if (mapping)
    munmap(mapping, size_t(total));
  mapping = nullptr;
}

Arenas &Arenas::operator=(Arenas &&other) noexcept {
  std::swap(mapping, other.mapping);
  std::swap(total, other.total);
  std::swap(bases, other.bases);
  std::swap(strides, other.strides);
  std::swap(sizes, other.sizes);
  return *this;
}

Arenas::~Arenas() { release(); }
