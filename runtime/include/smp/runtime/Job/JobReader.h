//===- JobReader.h - Read and validate a job folder -------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A job folder may be damaged or hand-made, so nothing in it is trusted: every
// buffer is checked against its arena, every product against its operands,
// waits name earlier ids, indices exist. What passes can be executed without
// further checks. Errors name the file and the path inside it.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_JOB_JOBREADER_H
#define SMP_RUNTIME_JOB_JOBREADER_H

#include "smp/Support/Result.h"
#include "smp/runtime/Job/Job.h"

namespace smp::runtime {

/// Reads `<directory>/job.json`.
Result<Job> readJob(const std::string &directory);

/// Reads rank-<rank>.json and the programs of the rank's chunks.
Result<RankJob> readRankJob(const Job &job, unsigned rank);

/// The hash of the folder as job.json must record it: SHA-256 over one line
/// `<sha-256 of the content> <file name>\n` for each of chunk-*.json,
/// constants.bin, job.json, kernels.so and rank-*.json that is there, by name;
/// job.json is taken with the digits of its own `hash` replaced by zeros.
Result<std::string> hashJobFolder(const std::string &directory);

/// Whether a file of this name is part of a job.
bool isJobFile(const std::string &name);

/// Fails when the folder's content is not what `job.hash` promises.
Status checkJobHash(const Job &job);

/// Fails when this CPU lacks a feature that the kernels need. `flags` replaces
/// the flags line of /proc/cpuinfo (tests).
Status checkCpuFeatures(const Job &job, const std::string *flags = nullptr);

} // namespace smp::runtime

#endif // SMP_RUNTIME_JOB_JOBREADER_H
