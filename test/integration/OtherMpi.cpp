//===- OtherMpi.cpp - What another MPI would say, for test_faults.py ------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loaded before the MPI of a rank (LD_PRELOAD): it calls itself another one,
// or, with SMP_TEST_ALONE, knows nothing of the mpirun that has started it.
//
//===----------------------------------------------------------------------===//

#include <cstdio>
#include <cstdlib>
#include <mpi.h>

static bool isAlone() { return std::getenv("SMP_TEST_ALONE") != nullptr; }

int MPI_Get_library_version(char *version, int *length) {
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
