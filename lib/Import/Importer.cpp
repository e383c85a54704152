//===- Importer.cpp - From an archive to the smp dialect ------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Import/Importer.h"
#include "AdditiveLoss.h"
#include "DeriveConvention.h"
#include "GraphImporter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "smp/Import/Passes.h"
#include "llvm/Support/Path.h"
#include <set>

using namespace mlir;
using namespace smp;
using pt2::GraphInput;
using pt2::Pt2Archive;

DenseElementsAttr smp::elementsOf(const Pt2Archive &archive,
                                  const std::string &name,
                                  RankedTensorType type, Refusals &refusals) {
  auto found = archive.constants().find(name);
  if (found == archive.constants().end()) {
    found = archive.weights().find(name);
    if (found == archive.weights().end()) {
      refusals.add(name, "is a constant without a value in the archive");
      return {};
    }
  }
  const pt2::StoredTensor &stored = found->second;
  if (!stored.hasData || ArrayRef(stored.shape) != type.getShape() ||
      elementType(type.getContext(), stored.type) != type.getElementType()) {
    refusals.add(name, "is a constant whose value in the archive does not fit");
    return {};
  }
  Result<std::vector<std::byte>> bytes = archive.elements(stored);
  if (!bytes) {
    refusals.add(name, "whose value cannot be read: " + bytes.error().message);
    return {};
  }
  if (stored.type == DataType::Bool) {
    SmallVector<bool> values;
    for (std::byte byte : *bytes)
      values.push_back(byte != std::byte(0));
    return DenseElementsAttr::get(type, values);
  }
  return DenseElementsAttr::getFromRawBuffer(
      type,
      ArrayRef(reinterpret_cast<const char *>(bytes->data()), bytes->size()));
}

namespace {

class ModuleImporter {
public:
  ModuleImporter(MLIRContext *context, const Pt2Archive &archive,
                 const pt2::Description &description)
      : archive(archive), description(description), names(archive, description),
        builder(context) {}

  OwningOpRef<ModuleOp> run();

private:
  void addAttributes(ModuleOp module);
  void addParameters();
  void addParameter(const std::string &name, RankedTensorType type);
  void addStates();
  RankedTensorType typeOf(const GraphInput &input);

  const Pt2Archive &archive;
  const pt2::Description &description;
  ModelNames names;
  OpBuilder builder;
  Refusals refusals;
};

RankedTensorType ModuleImporter::typeOf(const GraphInput &input) {
  const pt2::TensorMeta &meta =
      archive.train().tensors.find(input.value)->second;
  RankedTensorType type = tensorType(
      elementType(builder.getContext(), meta.type.value_or(DataType::F32)),
      meta.sizes);
  if (!meta.type || !type.hasStaticShape())
    refusals.add(input.target, "is stored with a type that smp has not");
  return type;
}

void ModuleImporter::addAttributes(ModuleOp module) {
  // Whoever exports trained weights must say whether a job starts from them.
  bool weights = llvm::any_of(archive.train().inputs, [&](auto &input) {
    auto stored = archive.weights().find(input.target);
    return input.kind == GraphInput::Kind::Parameter &&
           stored != archive.weights().end() && stored->second.hasData;
  });
  if (weights)
    module->setAttr("smp.exported_weights", builder.getUnitAttr());
  if (!description.convention.empty())
    module->setAttr("smp.data_convention",
                    builder.getStringAttr(description.convention));
  if (description.exampleBatch == 0)
    return;
  IntegerAttr rows = builder.getI64IntegerAttr(description.exampleBatch);
  module->setAttr("smp.batch", rows);
  if (description.batchSymbol.empty())
    module->setAttr("smp.fixed_batch", rows);
}

/// The initialiser as an attribute, or null.
static InitAttr initOf(MLIRContext *context,
                       const pt2::Description::Parameter &about) {
  if (!about.initializer)
    return {};
  // The kinds of the attribute are in the order of the library's.
  auto kind = static_cast<InitKind>(about.initializer->kind);
  return InitAttr::get(context, kind, about.initializer->a,
                       about.initializer->b, about.initializer->low,
                       about.initializer->high, about.initializer->zeroBegin,
                       about.initializer->zeroEnd);
}

void ModuleImporter::addParameter(const std::string &name,
                                  RankedTensorType type) {
  MLIRContext *context = builder.getContext();
  pt2::Description::Parameter about;
  if (auto found = description.parameters.find(name);
      found != description.parameters.end())
    about = found->second;
  Location loc = NameLoc::get(builder.getStringAttr(name));
  if (!about.unknownInitializer.empty())
    emitWarning(loc) << "expects '" << name
                     << "' to be initialised by a constant, a normal, "
                        "uniform or truncated normal distribution, got '"
                     << about.unknownInitializer
                     << "'; a job needs weights to start";
  SmallVector<StringRef> aliases(llvm::drop_begin(names.namesOf(name)));
  ParameterOp::create(builder, loc, name, type, !about.trainable,
                      initOf(context, about), builder.getStrArrayAttr(aliases));
}

void ModuleImporter::addParameters() {
  std::map<std::string, RankedTensorType> types;
  for (const GraphInput &input : archive.train().inputs)
    if (input.kind == GraphInput::Kind::Parameter)
      types[names.namesOf(input.target).front()] = typeOf(input);
  for (const std::string &name : names.parameters())
    if (auto found = types.find(name); found != types.end())
      addParameter(name, found->second);
}

/// Buffers that are saved with the model, and others that the graph uses.
void ModuleImporter::addStates() {
  std::set<std::string> used;
  for (const pt2::ExportedGraph *graph : {&archive.train(), archive.eval()})
    if (graph)
      for (const pt2::Node &node : graph->nodes)
        for (const pt2::Argument &argument : node.arguments)
          used.insert(argument.tensors.begin(), argument.tensors.end());
  for (const GraphInput &input : archive.train().inputs) {
    if (input.kind != GraphInput::Kind::Buffer ||
        (!input.persistent && !used.count(input.value)))
      continue;
    RankedTensorType type = typeOf(input);
    DenseElementsAttr value = elementsOf(archive, input.target, type, refusals);
    StateOp::create(builder, builder.getUnknownLoc(),
                    builder.getStringAttr(input.target), TypeAttr::get(type),
                    value);
  }
}

OwningOpRef<ModuleOp> ModuleImporter::run() {
  MLIRContext *context = builder.getContext();
  auto loc = FileLineColLoc::get(
      context, llvm::sys::path::filename(archive.path()), 0, 0);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  addAttributes(*module);
  addParameters();
  addStates();
  const std::string train = "model", eval = "eval";
  int64_t fixedBatch =
      description.batchSymbol.empty() ? description.exampleBatch : 0;
  GraphImporter(archive, names, train, archive.train(), fixedBatch, refusals)
      .run(*module, "train");
  if (archive.eval())
    GraphImporter(archive, names, eval, *archive.eval(), fixedBatch, refusals)
        .run(*module, "eval");
  if (!refusals.empty()) {
    auto error = emitError(loc)
                 << "expects operators that smp can import, got others:"
                 << refusals.str();
    error.attachNote() << "smp-import --list-operators names those that it can";
    return {};
  }
  if (failed(verify(*module)))
    return {};
  for (auto function : module->getOps<func::FuncOp>())
    if (failed(makeLossAdditive(function, fixedBatch)))
      return {};
  return module;
}

} // namespace

static OwningOpRef<ModuleOp> fail(Location loc, const Error &error) {
  InFlightDiagnostic diagnostic = emitError(loc) << error.message;
  if (!error.note.empty())
    diagnostic.attachNote() << error.note;
  return {};
}

/// A decomposition runs the bodies of `with torch.no_grad()` in place.
static void warnOfLostRegions(Location loc, const Pt2Archive &archive) {
  if (archive.description() || !archive.train().decomposed)
    return;
  InFlightDiagnostic warning =
      emitWarning(loc)
      << "expects regions under torch.no_grad() to be marked, got a decomposed "
         "graph, in which they leave no mark: gradients flow through them";
  warning.attachNote() << "if the model has such regions, save what "
                          "torch.export.export returned, or use smp.export";
}

OwningOpRef<ModuleOp> smp::importArchive(MLIRContext *context,
                                         const Pt2Archive &archive,
                                         const pt2::ArchiveHints &hints) {
  context->loadDialect<SmpDialect, func::FuncDialect, arith::ArithDialect>();
  Location loc = FileLineColLoc::get(
      context, llvm::sys::path::filename(archive.path()), 0, 0);
  Result<pt2::Description> description = describeArchive(archive, hints);
  if (!description)
    return fail(loc, description.error());
  warnOfLostRegions(loc, archive);
  OwningOpRef<ModuleOp> module =
      ModuleImporter(context, archive, *description).run();
  if (!module || archive.description() || !hints.convention.empty())
    return module;
  FailureOr<std::string> convention = deriveConvention(*module);
  if (failed(convention))
    return {};
  if (!convention->empty())
    (*module)->setAttr("smp.data_convention",
                       StringAttr::get(context, *convention));
  return module;
}

OwningOpRef<ModuleOp> smp::importModel(MLIRContext *context,
                                       const std::string &path) {
  Result<Pt2Archive> archive = Pt2Archive::open(path);
  if (!archive)
    return fail(UnknownLoc::get(context), archive.error());
  OwningOpRef<ModuleOp> module = importArchive(context, *archive);
  PassManager passes(context);
  passes.addPass(createRecoverCompositesPass());
  if (!module || failed(passes.run(*module)))
    return {};
  return module;
}
