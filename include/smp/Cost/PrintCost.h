//===- PrintCost.h - What a model costs, as a table -------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_COST_PRINTCOST_H
#define SMP_COST_PRINTCOST_H

#include "smp/IR/SmpDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <string>

namespace smp {

struct CostRow {
  int64_t ops = 0;
  int64_t parameters = 0;
  int64_t flops = 0;
  int64_t bytes = 0;
  int64_t savedBytes = 0;
};

struct CostReport {
  CostRow total;
  /// By module path, with all that lies inside it.
  std::map<std::string, CostRow> modules;
  /// By name of op.
  std::map<std::string, CostRow> kinds;
};

/// Adds up the costs of the ops of `function` and the parameters of its module.
/// Fails, with a diagnostic, where a shape is not static.
mlir::FailureOr<CostReport> collectCost(mlir::func::FuncOp function);

void printCost(const CostReport &report, llvm::raw_ostream &os);

/// {"total": row, "modules": {path: row}, "ops": {name: row}}; a row has ops,
/// parameters, flops, bytes and saved_bytes.
void printCostAsJson(const CostReport &report, llvm::raw_ostream &os);

} // namespace smp

#endif // SMP_COST_PRINTCOST_H
