//===- JobParts.cpp - Pieces shared by the readers of a job ---------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JobParts.h"

using namespace smp;
using namespace smp::runtime;

void runtime::checkVersion(const JsonCursor &root) {
  std::string version = root["version"].text();
  if (!version.starts_with("1.") || version.size() < 3)
    root["version"].expects("a version '1.<minor>' of the job format");
}

DataType runtime::readDataType(const JsonCursor &cursor) {
  auto type = parseDataType(cursor.text());
  if (type)
    return *type;
  cursor.expects("an element type");
  return DataType::F32;
}

/// Whether [offset, offset + bytes) lies inside [0, limit).
static void checkRange(const JsonCursor &cursor, int64_t offset, int64_t bytes,
                       int64_t limit, const Arena &arena) {
  if (offset > limit || bytes > limit - offset)
    cursor.fail("expects a range inside the " + std::to_string(limit) +
                " bytes of arena '" + arena.name + "', got " +
                std::to_string(bytes) + " bytes at offset " +
                std::to_string(offset));
}

BufferRef runtime::readBufferRef(const JsonCursor &cursor,
                                 const std::vector<Arena> &arenas,
                                 const Phases &phases) {
  BufferRef ref;
  ref.arena = cursor["arena"].index(arenas.size(), "an arena");
  ref.offset = cursor["offset"].integer();
  ref.bytes = cursor["bytes"].integer();
  if (ref.arena < arenas.size()) {
    const Arena &arena = arenas[ref.arena];
    checkRange(cursor, ref.offset, ref.bytes, arena.bytes(phases), arena);
  }
  return ref;
}

Operand runtime::readOperand(const JsonCursor &cursor,
                             const std::vector<Arena> &arenas) {
  Operand operand;
  operand.arena = cursor["a"].index(arenas.size(), "an arena");
  operand.offset = cursor["o"].integer();
  operand.bytes = cursor["n"].integer();
  operand.slotted = cursor.has("s") && cursor["s"].boolean();
  if (operand.arena < arenas.size()) {
    const Arena &arena = arenas[operand.arena];
    checkRange(cursor, operand.offset, operand.bytes,
               operand.slotted ? arena.stride : arena.stride * arena.slots,
               arena);
  }
  return operand;
}
