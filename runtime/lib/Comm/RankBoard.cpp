//===- RankBoard.cpp - What the ranks of a host share ---------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankBoard.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace smp;
using namespace smp::runtime;

static size_t bytesOf(int ranks) {
  return sizeof(RankBoard) + sizeof(BoardEntry) * ranks;
}

RankBoard *runtime::makeOwnBoard(int ranks) {
  void *memory = mmap(nullptr, bytesOf(ranks), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<RankBoard *>(memory);
}

/// What tells hosts, and containers on one host, apart.
static std::string hostIdentity() {
  char host[256] = "", space[256] = "";
  gethostname(host, sizeof host - 1);
  [[maybe_unused]] ssize_t length =
      readlink("/proc/self/ns/pid", space, sizeof space - 1);
  return std::string(host) + " " + space;
}

/// The board behind a descriptor, as large as that says.
static RankBoard *mapBoard(int descriptor, int ranks) {
  if (descriptor < 0)
    return nullptr;
  void *memory = mmap(nullptr, bytesOf(ranks), PROT_READ | PROT_WRITE,
                      MAP_SHARED, descriptor, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<RankBoard *>(memory);
}

/// Memory without a name, which goes with its last process.
static int makeSharedMemory(int ranks) {
  int descriptor = memfd_create("smp-board", MFD_CLOEXEC);
  if (descriptor < 0 ||
      ftruncate(descriptor, static_cast<off_t>(bytesOf(ranks))) == 0)
    return descriptor;
  close(descriptor);
  return -1;
}

Result<RankBoard *> runtime::connectBoard(Comm &comm) {
  int self = comm.rank();
  SMP_ASSIGN_OR_RETURN(std::vector<std::string> hosts,
                       comm.allGatherObjects(comm.world(), hostIdentity()));
  int leader = 0;
  while (hosts[leader] != hosts[self])
    ++leader;
  int descriptor = -1;
  std::string name;
  if (leader == self) {
    descriptor = makeSharedMemory(comm.size());
    name = "/proc/" + std::to_string(getpid()) + "/fd/" +
           std::to_string(descriptor);
  }
  SMP_ASSIGN_OR_RETURN(std::vector<std::string> names,
                       comm.allGatherObjects(comm.world(), name));
  if (leader != self)
    descriptor = open(names[leader].c_str(), O_RDWR | O_CLOEXEC);
  RankBoard *board = mapBoard(descriptor, comm.size());
  if (board)
    board->ranks[self].process.store(getpid());
  Status complete = comm.wait(comm.barrier(comm.world()));
  if (descriptor >= 0)
    close(descriptor);
  if (!complete)
    return complete.error();
  return board;
}
