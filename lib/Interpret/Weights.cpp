//===- Weights.cpp - Values of parameters and states ----------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Interpret/Weights.h"
#include "Semantics.h"
#include "smp/Support/Initializers.h"
#include <cstring>

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

WeightSource WeightSource::parse(StringRef text, uint64_t seed) {
  if (text == "reference")
    return {Kind::Reference, seed, {}};
  if (text == "random")
    return {Kind::Random, seed, {}};
  return {Kind::File, seed, text.str()};
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static Tensor fromView(const TensorView &view) {
  if (isFloating(view.type))
    return Tensor(view.type, view.shape, view.toF64());
  return Tensor(view.type, view.shape, view.toI64());
}

Result<TensorMap> interpret::readTensors(const std::string &path,
                                         StringRef prefix) {
  SMP_ASSIGN_OR_RETURN(SafetensorsFile file, SafetensorsFile::open(path));
  TensorMap tensors;
  for (const TensorView &view : file.tensors())
    if (StringRef name = view.name; name.consume_front(prefix))
      tensors[name.str()] = fromView(view);
  if (tensors.empty() && !prefix.empty())
    return Error{"'" + path + "' expects tensors whose names start with '" +
                 prefix.str() + "', got none"};
  return tensors;
}

Status interpret::writeTensors(const std::string &path,
                               const TensorMap &tensors, bool lifted) {
  std::vector<std::vector<std::byte>> buffers;
  std::vector<TensorView> views;
  for (const auto &[name, tensor] : tensors) {
    DataType type = lifted && tensor.isFloat() ? DataType::F64 : tensor.type();
    auto &buffer = buffers.emplace_back(tensor.size() * byteWidth(type));
    if (tensor.isFloat())
      convertElements(DataType::F64, tensor.floats().data(), type,
                      buffer.data(), tensor.size());
    else
      convertElements(DataType::I64, tensor.ints().data(), type, buffer.data(),
                      tensor.size());
    views.push_back({name, type, tensor.shape(), {}});
  }
  for (auto [view, buffer] : llvm::zip_equal(views, buffers))
    view.data = buffer;
  return writeSafetensors(path, views);
}

//===----------------------------------------------------------------------===//
// Parameters and states
//===----------------------------------------------------------------------===//

std::map<std::string, std::string, std::less<>>
interpret::canonicalNames(ModuleOp module) {
  std::map<std::string, std::string, std::less<>> names;
  for (auto parameter : module.getOps<ParameterOp>()) {
    std::string canonical = parameter.getSymName().str();
    names[canonical] = canonical;
    for (auto alias : parameter.getAliases().getAsRange<StringAttr>())
      names[alias.str()] = canonical;
  }
  return names;
}

/// A tensor of a file under one of several names, of the given type.
static Result<Tensor> findInFile(const TensorMap &file, const std::string &path,
                                 StringRef what, ArrayRef<StringRef> names,
                                 Type type) {
  for (StringRef name : names) {
    auto entry = file.find(std::string_view(name));
    if (entry == file.end())
      continue;
    Shape expected = shapeOf(type);
    DataType elementType = dataTypeOf(cast<ShapedType>(type).getElementType());
    if (entry->second.shape() != expected)
      return Error{"'" + path + "' expects " + what.str() + " '" + name.str() +
                   "' of shape " + shapeString(expected) + ", got " +
                   shapeString(entry->second.shape())};
    if (isFloating(elementType) != entry->second.isFloat())
      return Error{"'" + path + "' expects " + what.str() + " '" + name.str() +
                   "' of type " + std::string(dataTypeName(elementType)) +
                   ", got " + std::string(dataTypeName(entry->second.type()))};
    return entry->second.retyped(elementType);
  }
  return Error{"'" + path + "' expects " + what.str() + " '" +
                   names.front().str() + "', got none",
               "give the file that smp-import --weights wrote, or "
               "--weights=reference or random"};
}

static Tensor toTensor(Type type, ArrayRef<float> values) {
  Tensor tensor(dataTypeOf(cast<ShapedType>(type).getElementType()),
                shapeOf(type),
                std::vector<double>(values.begin(), values.end()));
  tensor.roundToType();
  return tensor;
}

static Result<Tensor> initialValue(ParameterOp parameter,
                                   const WeightSource &source) {
  std::string name = parameter.getSymName().str();
  Type type = parameter.getType();
  Shape shape = shapeOf(type);
  std::vector<float> values(elementsOf(shape));
  if (source.kind == WeightSource::Kind::Reference) {
    initializeReference(name, shape.size(), 0, values);
    return toTensor(type, values);
  }
  auto init = parameter.getInit();
  if (!init)
    return Error{"parameter '" + name + "' expects an initialiser, got none",
                 "give the weights as a file"};
  // The kinds of the attribute are in the order of the library's.
  auto kind = static_cast<Initializer::Kind>(init->getKind());
  Initializer initializer{kind, init->getA(), init->getB(), init->getLow(),
                          init->getHigh()};
  initialize(initializer, source.seed, name, 0, values);
  return toTensor(type, values);
}

static Result<Tensor> parameterValue(ParameterOp parameter,
                                     const WeightSource &source,
                                     const TensorMap &file) {
  if (!isa<FloatType>(cast<ShapedType>(parameter.getType()).getElementType()))
    return Error{"parameter '" + parameter.getSymName().str() +
                 "' expects a floating type"};
  if (source.kind != WeightSource::Kind::File)
    return initialValue(parameter, source);
  SmallVector<StringRef> names = {parameter.getSymName()};
  for (auto alias : parameter.getAliases().getAsRange<StringAttr>())
    names.push_back(alias.getValue());
  return findInFile(file, source.path, "parameter", names, parameter.getType());
}

static Result<Tensor> stateValue(StateOp state, const WeightSource &source,
                                 const TensorMap &file) {
  std::string name = state.getSymName().str();
  if (file.contains(name))
    return findInFile(file, source.path, "state", {state.getSymName()},
                      state.getType());
  if (auto value = state.getValue()) {
    FailureOr<Tensor> tensor = tensorOf(*value);
    if (succeeded(tensor))
      return *tensor;
  }
  return Error{"state '" + name +
               "' expects a value in the module or the "
               "weights, got none"};
}

Result<ModelState> interpret::loadWeights(ModuleOp module,
                                          const WeightSource &source) {
  TensorMap file;
  if (source.kind == WeightSource::Kind::File) {
    SMP_ASSIGN_OR_RETURN(file, readTensors(source.path));
  }
  ModelState model;
  for (auto parameter : module.getOps<ParameterOp>()) {
    SMP_ASSIGN_OR_RETURN(model.parameters[parameter.getSymName().str()],
                         parameterValue(parameter, source, file));
  }
  for (auto state : module.getOps<StateOp>()) {
    SMP_ASSIGN_OR_RETURN(model.states[state.getSymName().str()],
                         stateValue(state, source, file));
  }
  return model;
}
