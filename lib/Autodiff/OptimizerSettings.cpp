//===- OptimizerSettings.cpp - What an update does ------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Autodiff/OptimizerSettings.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace smp;

namespace {
/// A member of the dictionary and where its value goes.
struct Member {
  StringRef name;
  std::function<void(double)> set;
};
} // namespace

static LogicalResult readMembers(ModuleOp module, DictionaryAttr attributes,
                                 ArrayRef<Member> members) {
  for (NamedAttribute attribute : attributes) {
    if (attribute.getName() == "name")
      continue;
    const Member *member = llvm::find_if(members, [&](const Member &each) {
      return each.name == attribute.getName();
    });
    if (member == members.end())
      return module.emitError()
             << "expects a known member of 'smp.optimizer', got '"
             << attribute.getName().strref() << "'";
    auto value = dyn_cast<FloatAttr>(attribute.getValue());
    if (!value)
      return module.emitError()
             << "expects a number as '" << member->name
             << "' of 'smp.optimizer', got " << attribute.getValue();
    member->set(value.getValueAsDouble());
  }
  return success();
}

static std::optional<OptimizerKind> parseKind(StringRef name) {
  for (OptimizerKind kind :
       {OptimizerKind::AdamW, OptimizerKind::Adam, OptimizerKind::SGD})
    if (name == StringRef(smp::name(kind)))
      return kind;
  return std::nullopt;
}

FailureOr<OptimizerSettings> OptimizerSettings::read(ModuleOp module) {
  OptimizerSettings settings;
  Attribute attribute = module->getAttr(kOptimizerAttr);
  if (!attribute)
    return settings;
  auto attributes = dyn_cast<DictionaryAttr>(attribute);
  auto name = attributes ? attributes.getAs<StringAttr>("name") : StringAttr();
  std::optional<OptimizerKind> kind =
      name ? parseKind(name.getValue()) : std::nullopt;
  if (!kind)
    return module.emitError()
           << "expects 'smp.optimizer' of name adamw, adam or sgd, got "
           << attribute;
  settings.kind = *kind;
  if (settings.kind != OptimizerKind::AdamW)
    settings.weightDecay = 0.0;
  auto into = [](double &field) {
    return [&](double value) { field = value; };
  };
  Member decay{"weight_decay", into(settings.weightDecay)};
  Member clipping{"gradient_clipping",
                  [&](double value) { settings.gradientClipping = value; }};
  if (settings.kind == OptimizerKind::SGD) {
    if (failed(readMembers(
            module, attributes,
            {decay, clipping, {"momentum", into(settings.momentum)}})))
      return failure();
    return settings;
  }
  if (failed(readMembers(module, attributes,
                         {decay,
                          clipping,
                          {"beta1", into(settings.beta1)},
                          {"beta2", into(settings.beta2)},
                          {"epsilon", into(settings.epsilon)}})))
    return failure();
  return settings;
}

DictionaryAttr OptimizerSettings::toAttribute(MLIRContext *context) const {
  Builder builder(context);
  NamedAttrList members;
  auto set = [&](StringRef name, double value) {
    members.set(name, builder.getF64FloatAttr(value));
  };
  members.set("name", builder.getStringAttr(smp::name(kind)));
  set("weight_decay", weightDecay);
  if (kind == OptimizerKind::SGD) {
    set("momentum", momentum);
  } else {
    set("beta1", beta1);
    set("beta2", beta2);
    set("epsilon", epsilon);
  }
  if (gradientClipping)
    set("gradient_clipping", *gradientClipping);
  return members.getDictionary(context);
}
