//===- ModelNames.h - Names and roles in a model ----------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the description says of names.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_IMPORT_MODELNAMES_H
#define SMP_LIB_IMPORT_MODELNAMES_H

#include "smp/Import/Pt2Archive.h"

namespace smp {

class ModelNames {
public:
  ModelNames(const pt2::Pt2Archive &archive,
             const pt2::Description &description);

  /// All names of the parameter, the canonical one first.
  const std::vector<std::string> &namesOf(const std::string &name) const;
  /// Canonical names in the model's order.
  const std::vector<std::string> &parameters() const { return order; }

  /// The name of a parameter under the module that uses it: the alias whose
  /// module is the innermost around `scope`.
  const std::string &aliasFor(const std::string &name,
                              const std::string &scope) const;

  pt2::Description::Port input(const std::string &value) const;
  /// Of the output at a place among those that are no states.
  pt2::Description::Port output(const std::string &graph, size_t place,
                                const std::string &value) const;

private:
  void addGroup(const std::vector<std::string> &names);

  const pt2::Description &description;
  std::vector<std::vector<std::string>> groups;
  std::map<std::string, size_t> groupOf;
  std::vector<std::string> order;
};

} // namespace smp

#endif // SMP_LIB_IMPORT_MODELNAMES_H
