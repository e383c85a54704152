//===- Description.h - What the export helper adds to a graph ---*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `extra/smp.json` of docs/ExportFormat.md. An archive that torch.export.save
// wrote has none.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IMPORT_DESCRIPTION_H
#define SMP_IMPORT_DESCRIPTION_H

#include "smp/Support/Initializers.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace smp::pt2 {

struct Description {
  struct Parameter {
    bool trainable = true;
    std::optional<Initializer> initializer;
    /// The kind of an initialiser that smp has not, else empty.
    std::string unknownInitializer;
  };
  /// A user's name and role of a value of the graph.
  struct Port {
    std::string name;
    std::string role;
  };

  /// Empty when the graph fixes the batch.
  std::string batchSymbol;
  /// Rows of the example, or of every batch where it is fixed; 0 if not known.
  int64_t exampleBatch = 0;
  std::map<std::string, Port> inputs;
  /// Values with their names, by graph, in the order of its outputs. One value
  /// may be several outputs.
  std::map<std::string, std::vector<std::pair<std::string, Port>>> outputs;
  /// Groups of names of one parameter, the canonical one first.
  std::vector<std::vector<std::string>> aliases;
  /// By canonical name, and those names in the model's order.
  std::map<std::string, Parameter> parameters;
  std::vector<std::string> order;
  /// "hf", "next-token", or empty for a model without tokens.
  std::string convention;

  static Result<Description> parse(std::string_view text,
                                   const std::string &where);
};

} // namespace smp::pt2

#endif // SMP_IMPORT_DESCRIPTION_H
