//===- OtherMpi.cpp - What another MPI would say, for test_strangers.py ---===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loaded before the MPI of a rank (LD_PRELOAD): it calls itself another one,
// or, with SMP_TEST_ALONE, knows nothing of the mpirun that has started it;
// with SMP_TEST_SLOW it is the same one, whose messages arrive late.
//
//===----------------------------------------------------------------------===//

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>

using Clock = std::chrono::steady_clock;

static bool isAlone() { return std::getenv("SMP_TEST_ALONE") != nullptr; }
static bool isSlow() { return std::getenv("SMP_TEST_SLOW") != nullptr; }

static Clock::rep lastReceive = 0;

int MPI_Irecv(void *data, int count, MPI_Datatype type, int source, int tag,
              MPI_Comm comm, MPI_Request *request) {
  lastReceive = Clock::now().time_since_epoch().count();
  return PMPI_Irecv(data, count, type, source, tag, comm, request);
}

int MPI_Test(MPI_Request *request, int *complete, MPI_Status *status) {
  Clock::duration since =
      Clock::now().time_since_epoch() - Clock::duration(lastReceive);
  if (isSlow() && since < std::chrono::milliseconds(50))
    return *complete = 0;
  return PMPI_Test(request, complete, status);
}

int MPI_Get_library_version(char *version, int *length) {
  if (isSlow())
    return PMPI_Get_library_version(version, length);
  *length = std::snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING,
                          "Another MPI v1, of another package");
  return MPI_SUCCESS;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  if (!isAlone())
    return PMPI_Init_thread(argc, argv, required, provided);
  *provided = required;
  return MPI_SUCCESS;
}

int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
  return isAlone() ? MPI_SUCCESS : PMPI_Comm_set_errhandler(comm, handler);
}

int MPI_Comm_get_attr(MPI_Comm comm, int key, void *value, int *found) {
  return isAlone() ? *found = 0 : PMPI_Comm_get_attr(comm, key, value, found);
}

int MPI_Comm_rank(MPI_Comm comm, int *rank) {
  return isAlone() ? *rank = 0 : PMPI_Comm_rank(comm, rank);
}

int MPI_Comm_size(MPI_Comm comm, int *size) {
  if (!isAlone())
    return PMPI_Comm_size(comm, size);
  *size = 1;
  return MPI_SUCCESS;
}
