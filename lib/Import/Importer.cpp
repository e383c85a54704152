//===- Importer.cpp - From an archive to the smp dialect ------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Import/Importer.h"
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
  ModuleImporter(MLIRContext *context, const Pt2Archive &archive)
      : archive(archive), names(archive), builder(context) {}

  OwningOpRef<ModuleOp> run();

private:
  void addAttributes(ModuleOp module);
  void addParameters();
  void addParameter(const std::string &name, RankedTensorType type);
  void addStates();
  RankedTensorType typeOf(const GraphInput &input);

  const Pt2Archive &archive;
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
  const pt2::Description *description = archive.description();
  if (!description)
    return;
  if (!description->convention.empty())
    module->setAttr("smp.data_convention",
                    builder.getStringAttr(description->convention));
  module->setAttr("smp.batch",
                  builder.getI64IntegerAttr(description->exampleBatch));
}

/// The initialiser as an attribute, or null.
static InitAttr initOf(MLIRContext *context,
                       const pt2::Description::Parameter &about) {
  if (!about.initializer)
    return {};
  using Kind = Initializer::Kind;
  InitKind kind = about.initializer->kind == Kind::Constant ? InitKind::Constant
                  : about.initializer->kind == Kind::Normal ? InitKind::Normal
                                                            : InitKind::Uniform;
  return InitAttr::get(context, kind, about.initializer->a,
                       about.initializer->b);
}

void ModuleImporter::addParameter(const std::string &name,
                                  RankedTensorType type) {
  MLIRContext *context = builder.getContext();
  pt2::Description::Parameter about;
  if (const pt2::Description *description = archive.description())
    if (auto found = description->parameters.find(name);
        found != description->parameters.end())
      about = found->second;
  Location loc = NameLoc::get(builder.getStringAttr(name));
  if (!about.unknownInitializer.empty())
    emitWarning(loc) << "expects '" << name
                     << "' to be initialised by a constant, normal or uniform "
                        "distribution, got '"
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
  GraphImporter(archive, names, train, archive.train(), refusals)
      .run(*module, "train");
  if (archive.eval())
    GraphImporter(archive, names, eval, *archive.eval(), refusals)
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
  return module;
}

} // namespace

OwningOpRef<ModuleOp> smp::importArchive(MLIRContext *context,
                                         const Pt2Archive &archive) {
  context->loadDialect<SmpDialect, func::FuncDialect, arith::ArithDialect>();
  return ModuleImporter(context, archive).run();
}

OwningOpRef<ModuleOp> smp::importModel(MLIRContext *context,
                                       const std::string &path) {
  Result<Pt2Archive> archive = Pt2Archive::open(path);
  if (!archive) {
    auto error = emitError(UnknownLoc::get(context), archive.error().message);
    if (!archive.error().note.empty())
      error.attachNote() << archive.error().note;
    return {};
  }
  OwningOpRef<ModuleOp> module = importArchive(context, *archive);
  PassManager passes(context);
  passes.addPass(createRecoverCompositesPass());
  if (!module || failed(passes.run(*module)))
    return {};
  return module;
}
