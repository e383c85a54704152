//===- Dependences.h - Who waits for whom in a list -------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_LIB_EXECUTOR_DEPENDENCES_H
#define SMP_RUNTIME_LIB_EXECUTOR_DEPENDENCES_H

#include <vector>

namespace smp::runtime {

/// The waits of a list of commands or actions, turned around.
class Dependences {
public:
  Dependences() = default;
  template <typename List>
  explicit Dependences(const List &list)
      : waits(list.size()), successors(list.size()) {
    for (unsigned i = 0; i < list.size(); ++i) {
      waits[i] = unsigned(list[i].waits.size());
      for (unsigned wait : list[i].waits)
        successors[wait].push_back(i);
    }
  }

  std::vector<unsigned> waits; ///< how many each one waits for
  std::vector<std::vector<unsigned>> successors;
};

} // namespace smp::runtime

#endif // SMP_RUNTIME_LIB_EXECUTOR_DEPENDENCES_H
