//===- PrintCost.cpp - What a model costs, as a table ---------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Cost/PrintCost.h"

#include "CostUtils.h"
#include "smp/Autodiff/SavedValues.h"
#include "smp/Cost/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace smp;

namespace smp {
#define GEN_PASS_DEF_PRINTCOSTPASS
#include "smp/Cost/Passes.h.inc"
} // namespace smp

//===----------------------------------------------------------------------===//
// Collection
//===----------------------------------------------------------------------===//

/// Changes the row of a module path and of all paths around it.
static void updateModules(CostReport &report, StringRef path,
                          llvm::function_ref<void(CostRow &)> update) {
  update(report.total);
  for (size_t end = 0; !path.empty() && end != StringRef::npos;) {
    end = path.find('.', end + 1);
    update(report.modules[path.take_front(end).str()]);
  }
}

static StringRef scopeOf(Operation *op) {
  auto model = dyn_cast<ModelOpInterface>(op);
  return model ? model.getScope() : StringRef();
}

static LogicalResult checkStatic(Operation *op) {
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type);
        tensor && !tensor.hasStaticShape()) {
      InFlightDiagnostic diagnostic =
          op->emitError() << "expects static shapes, got " << tensor;
      diagnostic.attachNote() << "run --smp-specialize first";
      return diagnostic;
    }
  return success();
}

static void addParameters(CostReport &report, ModuleOp module) {
  for (auto parameter : module.getOps<ParameterOp>()) {
    StringRef name = parameter.getSymName();
    size_t dot = name.rfind('.');
    StringRef path = dot == StringRef::npos ? "" : name.take_front(dot);
    int64_t count = parameter.getType().getNumElements();
    updateModules(report, path, [&](CostRow &row) { row.parameters += count; });
  }
}

static void addOp(CostReport &report, CostOpInterface op) {
  auto update = [flops = op.getFlops(), bytes = op.getBytes()](CostRow &row) {
    ++row.ops;
    row.flops += flops;
    row.bytes += bytes;
  };
  updateModules(report, scopeOf(op), update);
  update(report.kinds[op->getName().getStringRef().str()]);
}

FailureOr<CostReport> smp::collectCost(func::FuncOp function) {
  CostReport report;
  addParameters(report, function->getParentOfType<ModuleOp>());
  for (Operation &op : function.getBody().front()) {
    if (failed(checkStatic(&op)))
      return failure();
    if (auto cost = dyn_cast<CostOpInterface>(op))
      addOp(report, cost);
  }
  forEachSavedValue(function, [&](Operation *reader, Value value) {
    auto update = [bytes = countBytes(value)](CostRow &row) {
      row.savedBytes += bytes;
    };
    updateModules(report, scopeOf(reader), update);
    update(report.kinds[reader->getName().getStringRef().str()]);
  });
  return report;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// With a comma after each third digit from the right.
static std::string grouped(int64_t number) {
  std::string text = std::to_string(number);
  for (int64_t at = int64_t(text.size()) - 3; at > 0; at -= 3)
    text.insert(at, ",");
  return text;
}

static void printCells(raw_ostream &os, size_t width, StringRef name,
                       ArrayRef<std::string> cells) {
  os << llvm::left_justify(name, width);
  constexpr unsigned widths[] = {9, 17, 23, 21, 19};
  for (auto [cell, columns] : llvm::zip(cells, widths))
    os << llvm::right_justify(cell, columns);
  os << "\n";
}

static void printRow(raw_ostream &os, size_t width, StringRef name,
                     const CostRow &row) {
  printCells(os, width, name,
             {grouped(row.ops), grouped(row.parameters), grouped(row.flops),
              grouped(row.bytes), grouped(row.savedBytes)});
}

static void printTable(raw_ostream &os, StringRef title,
                       const std::map<std::string, CostRow> &rows,
                       const CostRow &total) {
  size_t width = title.size();
  for (const auto &[name, row] : rows)
    width = std::max(width, name.size());
  printCells(os, width, title,
             {"ops", "parameters", "flops", "bytes", "saved bytes"});
  for (const auto &[name, row] : rows)
    printRow(os, width, name, row);
  printRow(os, width, "total", total);
}

void smp::printCost(const CostReport &report, raw_ostream &os) {
  printTable(os, "module", report.modules, report.total);
  os << "\n";
  CostRow total = report.total;
  total.parameters = 0;
  printTable(os, "op", report.kinds, total);
}

static llvm::json::Object toJson(const CostRow &row) {
  return llvm::json::Object{{"ops", row.ops},
                            {"parameters", row.parameters},
                            {"flops", row.flops},
                            {"bytes", row.bytes},
                            {"saved_bytes", row.savedBytes}};
}

static llvm::json::Object toJson(const std::map<std::string, CostRow> &rows) {
  llvm::json::Object object;
  for (const auto &[name, row] : rows)
    object[name] = toJson(row);
  return object;
}

void smp::printCostAsJson(const CostReport &report, raw_ostream &os) {
  llvm::json::Object object{{"total", toJson(report.total)},
                            {"modules", toJson(report.modules)},
                            {"ops", toJson(report.kinds)}};
  os << llvm::formatv("{0:2}", llvm::json::Value(std::move(object))) << "\n";
}

namespace {
struct PrintCostPass : public smp::impl::PrintCostPassBase<PrintCostPass> {
  using PrintCostPassBase::PrintCostPassBase;

  void runOnOperation() override {
    if (format != "text" && format != "json") {
      getOperation().emitError()
          << "expects format 'text' or 'json', got '" << format << "'";
      return signalPassFailure();
    }
    auto target = getOperation().lookupSymbol<func::FuncOp>(function);
    if (!target || target.isExternal()) {
      getOperation().emitError() << "expects a function '" << function
                                 << "' in the module, got none of that name";
      return signalPassFailure();
    }
    FailureOr<CostReport> report = collectCost(target);
    if (failed(report))
      return signalPassFailure();
    if (format == "json")
      printCostAsJson(*report, llvm::outs());
    else
      printCost(*report, llvm::outs());
    markAllAnalysesPreserved();
  }
};
} // namespace
