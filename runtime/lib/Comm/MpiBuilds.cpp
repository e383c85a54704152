//===- MpiBuilds.cpp - Whether all ranks are one program ------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks of two builds may understand each other's messages and yet compute
// different bits, or wait for each other forever. So the first words are those
// of this file, over plain MPI and in a form that stays: each rank sends rank 0
// a card of fixed size, and rank 0 answers with what is wrong, or nothing.
//
//===----------------------------------------------------------------------===//

#include "smp/Support/Hash.h"
#include "smp/Support/MappedFile.h"
#include "smp/runtime/Comm/Liveness.h"
#include "smp/runtime/Comm/MpiTransport.h"
#include <array>
#include <chrono>
#include <climits>
#include <cstdio>
#include <mpi.h>
#include <thread>
#include <unistd.h>

using namespace smp;
using namespace smp::runtime;
using Clock = std::chrono::steady_clock;

namespace {
/// Texts ended by a zero. The size and the tags never change.
struct Card {
  std::array<char, 32> build;
  std::array<char, 224> mpi;
  std::array<char, 768> program;
};
static_assert(sizeof(Card) == 1024);
struct Verdict {
  std::array<char, 16> silent; ///< a rank that has not said what it is
  std::array<char, 3056> error;
};
static_assert(sizeof(Verdict) == 3072);

constexpr int cardTag = (1 << 24) - 2, verdictTag = (1 << 24) - 3;
} // namespace

template <size_t size>
static void put(std::array<char, size> &field, const std::string &text) {
  std::snprintf(field.data(), size, "%s", text.c_str());
}
template <size_t size>
static std::string get(const std::array<char, size> &field) {
  return {field.data(), strnlen(field.data(), size)};
}

static Card ownCard() {
  Card card = {};
  char path[PATH_MAX] = "";
  if (readlink("/proc/self/exe", path, sizeof path - 1) <= 0)
    put(card.program, "an unknown program");
  else
    put(card.program, path);
  // By the link: it leads to this program even if another one has its path.
  if (auto program = MappedFile::open("/proc/self/exe")) {
    std::span<const std::byte> bytes = program->bytes();
    char hash[17];
    std::snprintf(hash, sizeof hash, "%016llx",
                  (unsigned long long)xxh64(bytes.data(), bytes.size()));
    put(card.build, hash);
  }
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(version, &length);
  std::string line(version);
  put(card.mpi, line.substr(0, line.find_first_of(",\n")));
  return card;
}

/// What is wrong with the program of a rank, compared with that of rank 0.
static std::string compareCards(const Card &first, const Card &other,
                                int rank) {
  auto both = [&](const std::string &what, const std::string &left,
                  const std::string &right) {
    return "expects the same " + what + " on all ranks, got " + left +
           " on rank 0 and " + right + " on rank " + std::to_string(rank);
  };
  if (first.mpi != other.mpi)
    return both("MPI", "'" + get(first.mpi) + "'", "'" + get(other.mpi) + "'");
  auto build = [](const Card &card) {
    return "'" + get(card.program) + "' (build " + get(card.build) + ")";
  };
  if (first.build != other.build)
    return both("build of smp-run", build(first), build(other));
  return {};
}

/// Until all are complete or time is over; then a rank whose message is not.
static int firstMissing(std::vector<MPI_Request> &requests,
                        Clock::time_point end) {
  int complete = 0;
  while (!complete && Clock::now() < end) {
    MPI_Testall(int(requests.size()), requests.data(), &complete,
                MPI_STATUSES_IGNORE);
    if (!complete)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  for (size_t i = 0; !complete && i < requests.size(); ++i) {
    int done = 0;
    MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
    if (!done)
      return int(i);
  }
  return -1;
}

static std::string silence(int rank, int seconds) {
  return "expects rank " + std::to_string(rank) + " to say what it is within " +
         std::to_string(seconds) + " s, got nothing";
}

/// On rank 0: the verdict on all ranks.
static Verdict judge(const Card &own, int ranks, int seconds) {
  Verdict verdict = {};
  std::vector<Card> cards(ranks, own);
  std::vector<MPI_Request> requests(ranks, MPI_REQUEST_NULL);
  for (int rank = 1; rank < ranks; ++rank)
    MPI_Irecv(&cards[rank], sizeof(Card), MPI_CHAR, rank, cardTag,
              MPI_COMM_WORLD, &requests[rank]);
  int missing =
      firstMissing(requests, Clock::now() + std::chrono::seconds(seconds));
  if (missing > 0) {
    put(verdict.silent, std::to_string(missing));
    put(verdict.error, silence(missing, seconds));
    for (MPI_Request &request : requests)
      if (request != MPI_REQUEST_NULL)
        MPI_Cancel(&request);
    return verdict;
  }
  for (int rank = 1; rank < ranks && !verdict.error[0]; ++rank)
    put(verdict.error, compareCards(own, cards[rank], rank));
  return verdict;
}

static Verdict askRankZero(const Card &own, int seconds) {
  Verdict verdict = {};
  MPI_Request card;
  MPI_Isend(&own, sizeof own, MPI_CHAR, 0, cardTag, MPI_COMM_WORLD, &card);
  std::vector<MPI_Request> requests(1);
  MPI_Irecv(&verdict, sizeof verdict, MPI_CHAR, 0, verdictTag, MPI_COMM_WORLD,
            requests.data());
  setActivityPeer(phaseSlot, 0);
  // Rank 0 itself may wait for so long, and then says for whom.
  Clock::time_point end = Clock::now() + std::chrono::seconds(seconds + 2);
  if (firstMissing(requests, end) >= 0) {
    put(verdict.silent, "0");
    put(verdict.error, silence(0, seconds));
  }
  return verdict;
}

BuildComparison runtime::compareBuilds(int seconds) {
  setPhase("comparison of builds");
  int self = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  static Card own; // MPI may still read it when this function has given up
  own = ownCard();
  Verdict verdict =
      self == 0 ? judge(own, ranks, seconds) : askRankZero(own, seconds);
  if (self == 0) {
    std::vector<MPI_Request> requests(ranks, MPI_REQUEST_NULL);
    for (int rank = 1; rank < ranks; ++rank)
      MPI_Isend(&verdict, sizeof verdict, MPI_CHAR, rank, verdictTag,
                MPI_COMM_WORLD, &requests[rank]);
    // Whoever does not take it is not waited for long.
    firstMissing(requests, Clock::now() + std::chrono::seconds(1));
  }
  setPhase("comparison of builds");
  BuildComparison comparison;
  comparison.allSpoke = !verdict.silent[0];
  comparison.isSaidByRankZero = self != 0 && get(verdict.silent) != "0";
  if (verdict.error[0])
    comparison.status =
        Error{get(verdict.error),
              "start the same smp-run, with the same MPI, everywhere"};
  return comparison;
}
