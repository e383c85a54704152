//===- Arenas.h - The memory of one rank ------------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All arenas of a rank lie in one anonymous mapping of exactly the planned
// bytes, in huge pages where the kernel gives them: faults on 4 KiB pages cost
// more than many kernels (docs: 2 GB/s against 9 GB/s on first touch).
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_DEVICE_ARENAS_H
#define SMP_RUNTIME_DEVICE_ARENAS_H

#include "smp/Support/Result.h"
#include "smp/runtime/Job/Job.h"

#include <cstddef>

namespace smp::runtime {

class Arenas {
public:
  /// Allocates what `phases` need of the arenas, zero-filled, and copies
  /// constants.bin of `directory` where an arena starts with content.
  static Result<Arenas> allocate(const std::vector<Arena> &arenas,
                                 const std::string &directory,
                                 const Phases &phases = {});
  Arenas(Arenas &&other) noexcept { *this = std::move(other); }
  Arenas &operator=(Arenas &&other) noexcept;
  ~Arenas();

  size_t size() const { return bases.size(); }
  std::byte *base(unsigned arena) const { return bases[arena]; }
  std::byte *at(const BufferRef &ref) const {
    return bases[ref.arena] + ref.offset;
  }
  /// The address of an operand; `slot` counts only when it is slotted.
  std::byte *at(const Operand &operand, int64_t slot) const {
    return bases[operand.arena] + operand.offset +
           (operand.slotted ? slot * strides[operand.arena] : 0);
  }
  int64_t stride(unsigned arena) const { return strides[arena]; }
  /// Bytes of an arena that are there.
  int64_t bytes(unsigned arena) const { return sizes[arena]; }
  int64_t totalBytes() const { return total; }

private:
  Arenas() = default;
  void release();

  std::byte *mapping = nullptr;
  int64_t total = 0;
  std::vector<std::byte *> bases;
  std::vector<int64_t> strides, sizes;
};

} // namespace smp::runtime

#endif // SMP_RUNTIME_DEVICE_ARENAS_H
