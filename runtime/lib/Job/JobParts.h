//===- JobParts.h - Pieces shared by the readers of a job -------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_LIB_JOB_JOBPARTS_H
#define SMP_RUNTIME_LIB_JOB_JOBPARTS_H

#include "JsonCursor.h"
#include "smp/runtime/Job/Job.h"

namespace smp::runtime {

/// Refuses a document of another major version.
void checkVersion(const JsonCursor &root);

DataType readDataType(const JsonCursor &cursor);

/// What is there whatever a run executes.
inline constexpr Phases always = {false, false, false};

/// A REF of the format: inside what a run of `phases` has of the arena, all
/// slots together.
BufferRef readBufferRef(const JsonCursor &cursor,
                        const std::vector<Arena> &arenas,
                        const Phases &phases = always);

/// A B of the format: inside one slot when slotted.
Operand readOperand(const JsonCursor &cursor, const std::vector<Arena> &arenas);

/// The commands of a program executed by pipeline rank `rank`.
Program readProgram(const JsonCursor &cursor, const std::string &name,
                    const Job &job, unsigned rank);

/// Where the reader of a schedule finds the programs it launches:
/// (chunk, name) -> index into RankJob::programs.
using ProgramIndex = std::map<std::pair<int, std::string>, unsigned>;

Schedule readSchedule(const JsonCursor &cursor, const Job &job,
                      const RankJob &rankJob, const ProgramIndex &programs);

/// The tensors of job.json: parameters, states, inputs, outputs, scalars.
void readTensors(const JsonCursor &root, Job &job);

} // namespace smp::runtime

#endif // SMP_RUNTIME_LIB_JOB_JOBPARTS_H
