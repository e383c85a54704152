//===- MpiTransport.cpp - Ranks as processes under MPI --------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Comm/MpiTransport.h"
#include "HandleTable.h"
#include "smp/runtime/Comm/Wire.h"
#include <chrono>
#include <cstdlib>
#include <mpi.h>
#include <thread>
#include <unistd.h>

using namespace smp;
using namespace smp::runtime;

namespace {
/// Above every tag of Comm: messages of ranks that give up.
constexpr int abortTag = (1 << 24) - 1;
/// Polls between two looks for such a message: a look costs a scan.
constexpr int pollsPerLook = 64;

class MpiWire : public Wire {
public:
  MpiWire(int self, int ranks) : self(self), ranks(ranks), posted(ranks) {}

  int rank() const override { return self; }
  int size() const override { return ranks; }
  Result<Handle> send(int peer, int tag, const void *data, int64_t bytes,
                      bool synchronous) override;
  Result<Handle> receive(int peer, int tag, void *data, int64_t bytes) override;
  Result<bool> test(Handle handle) override;
  void abort(const Error &error) override;
  std::optional<Error> aborted() override;

private:
  struct Posted {
    MPI_Request request = MPI_REQUEST_NULL;
    int64_t expected = -1; ///< bytes to receive, −1 for a send
  };
  Handle remember(MPI_Request request, int64_t expected) {
    auto [handle, message] = posted.take();
    message = {request, expected};
    return handle;
  }
  void look();

  int self, ranks;
  HandleTable<Posted> posted;
  int polls = 0;
  std::optional<Error> failure;
  std::string farewell; ///< stays until the messages of abort() are out
};
} // namespace

static Error mpiError(const char *what, int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return Error{std::string("cannot ") + what +
               " over MPI: " + std::string(text, length)};
}

Result<Wire::Handle> MpiWire::send(int peer, int tag, const void *data,
                                   int64_t bytes, bool synchronous) {
  MPI_Request request;
  auto *post = synchronous ? MPI_Issend : MPI_Isend;
  int code = post(data, static_cast<int>(bytes), MPI_BYTE, peer, tag,
                  MPI_COMM_WORLD, &request);
  if (code != MPI_SUCCESS)
    return mpiError("send", code);
  return remember(request, -1);
}

Result<Wire::Handle> MpiWire::receive(int peer, int tag, void *data,
                                      int64_t bytes) {
  MPI_Request request;
  int code = MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, peer, tag,
                       MPI_COMM_WORLD, &request);
  if (code != MPI_SUCCESS)
    return mpiError("receive", code);
  return remember(request, bytes);
}

Result<bool> MpiWire::test(Handle handle) {
  Posted *message = posted.find(handle);
  if (!message)
    return Error{"expects a posted message, got a spent handle"};
  int complete = 0;
  MPI_Status status;
  int code = MPI_Test(&message->request, &complete, &status);
  if (code == MPI_SUCCESS && !complete)
    return false;
  int64_t expected = message->expected;
  posted.erase(handle);
  if (code != MPI_SUCCESS)
    return mpiError(expected < 0 ? "send" : "receive", code);
  int received = 0;
  MPI_Get_count(&status, MPI_BYTE, &received);
  if (expected >= 0 && received != expected)
    return Error{"expects a message of " + std::to_string(expected) +
                 " bytes, got " + std::to_string(received)};
  return true;
}

void MpiWire::abort(const Error &error) {
  if (failure)
    return;
  farewell = "rank " + std::to_string(self) + " stopped: " + error.message;
  failure = Error{farewell, error.note};
  std::vector<MPI_Request> requests(ranks, MPI_REQUEST_NULL);
  for (int peer = 0; peer < ranks; ++peer)
    if (peer != self)
      MPI_Isend(farewell.data(), static_cast<int>(farewell.size()), MPI_CHAR,
                peer, abortTag, MPI_COMM_WORLD, &requests[peer]);
  // Short messages leave at once; whoever is stuck is not waited for.
  for (int i = 0, complete = 0; i < 100 && !complete; ++i) {
    MPI_Testall(ranks, requests.data(), &complete, MPI_STATUSES_IGNORE);
    if (!complete)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void MpiWire::look() {
  int found = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, abortTag, MPI_COMM_WORLD, &found, &status);
  if (!found)
    return;
  int length = 0;
  MPI_Get_count(&status, MPI_CHAR, &length);
  std::string text(length, '\0');
  MPI_Recv(text.data(), length, MPI_CHAR, status.MPI_SOURCE, abortTag,
           MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  failure = Error{text};
}

std::optional<Error> MpiWire::aborted() {
  if (!failure && polls++ % pollsPerLook == 0)
    look();
  if (failure)
    // The buffers may go away: nothing may arrive in them any more.
    posted.eraseAll([](Posted &message) {
      if (message.expected >= 0)
        MPI_Cancel(&message.request);
    });
  return failure;
}

bool runtime::underMpi() {
  for (const char *name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
    if (std::getenv(name))
      return true;
  return false;
}

Result<std::unique_ptr<Comm>> runtime::createMpiComm() {
  // Where ranks outnumber cores, Open MPI yields the core in every MPI_Test.
  // Who waits here polls many requests and rests in between (Comm::wait, the
  // executor), so that a rank with work to do was kept waiting for a time slice
  // at each poll: four ranks on two busy cores took 15 to 100 times longer.
  setenv("OMPI_MCA_mpi_yield_when_idle", "0", /*overwrite=*/0);
  int provided = 0;
  int code =
      MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  if (code != MPI_SUCCESS)
    return mpiError("start", code);
  if (provided < MPI_THREAD_SERIALIZED)
    return Error{"expects an MPI that allows calls from several threads in "
                 "turn, got one that does not"};
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int *limit = nullptr, known = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void *>(&limit),
                    &known);
  if (known && *limit < abortTag)
    return Error{"expects an MPI with tags up to " + std::to_string(abortTag) +
                 ", got " + std::to_string(*limit)};
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (const char *said = std::getenv("OMPI_COMM_WORLD_SIZE");
      said && std::to_string(size) != said)
    return Error{"expects the world of OMPI_COMM_WORLD_SIZE, '" +
                     std::string(said) + "' ranks, got " + std::to_string(size),
                 "the variable is left from another mpirun: unset it, or "
                 "start with the mpirun that this program is built for"};
  return std::make_unique<Comm>(std::make_unique<MpiWire>(rank, size));
}

void runtime::finalizeMpi() { MPI_Finalize(); }

void runtime::failMpi(int exitCode) {
  // Peers still have to read why; a rank that leaves ends the job.
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  std::fflush(nullptr);
  _exit(exitCode);
}
