//===- ImportTable.cpp - Which ATen operator becomes which op -------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImportTable.h"
#include "smp/Import/Importer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace smp;

static const llvm::StringMap<const ImportRule *> &importTable() {
  static const llvm::StringMap<const ImportRule *> table = [] {
    llvm::StringMap<const ImportRule *> rules;
    for (ArrayRef<ImportRule> family :
         {arithmeticRules(), logicRules(), constantRules(), shapeRules(),
          cutRules(), moveRules(), scatterRules(), productRules(),
          einsumRules(), activationRules(), reductionRules(), indexRules(),
          networkRules(), convolutionRules(), lossRules(), classLossRules()})
      for (const ImportRule &rule : family)
        rules[rule.target] = &rule;
    return rules;
  }();
  return table;
}

const ImportRule *smp::findRule(StringRef target) {
  return importTable().lookup(target);
}

std::vector<std::string> smp::importedOperators() {
  std::vector<std::string> names;
  for (const auto &entry : importTable())
    names.push_back(entry.getKey().str());
  llvm::sort(names);
  return names;
}

bool smp::isIgnored(const pt2::Node &node) {
  if (node.givesSizes)
    return true;
  StringRef target = node.target;
  return target.starts_with("aten._assert_") ||
         target.starts_with("aten.sym_constrain_range");
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Bool, integer, floating: a higher category wins over any width.
static int category(Type type) {
  return type.isInteger(1) ? 0 : isa<IntegerType>(type) ? 1 : 2;
}

static Type promote(Type a, Type b) {
  if (!a || !b)
    return a ? a : b;
  if (category(a) != category(b))
    return category(a) > category(b) ? a : b;
  unsigned left = a.getIntOrFloatBitWidth(), right = b.getIntOrFloatBitWidth();
  if (left == right && a != b) // f16 and bf16
    return Float32Type::get(a.getContext());
  return left >= right ? a : b;
}

Type smp::promotedType(NodeImporter &n, ArrayRef<StringRef> names) {
  // Tensors with dims decide; scalar tensors, then numbers, only raise the
  // category.
  Type byPriority[3];
  for (StringRef name : names) {
    const pt2::Argument *argument = nullptr;
    for (const pt2::Argument &candidate : n.node.arguments)
      if (candidate.name == name)
        argument = &candidate;
    if (!argument)
      continue;
    if (argument->kind == pt2::Argument::Kind::Tensor) {
      Tensor tensor = n.tensor(name);
      Type &type = byPriority[tensor.rank() == 0 ? 1 : 0];
      type = promote(type, tensor.element());
    } else {
      using Kind = pt2::Argument::Kind;
      Type type = argument->kind == Kind::Float  ? Type(n.builder.getF32Type())
                  : argument->kind == Kind::Bool ? Type(n.builder.getI1Type())
                                                 : n.builder.getI64Type();
      byPriority[2] = promote(byPriority[2], type);
    }
  }
  Type result;
  for (Type type : byPriority)
    if (!result || (type && category(type) > category(result)))
      result = type;
  return result;
}

Tensor smp::convert(NodeImporter &n, const Tensor &operand, Type element) {
  if (operand.element() == element || !element.isInteger(1))
    return n.cast(operand, element);
  Tensor zero = n.fill(0.0, operand.element(), operand.shape);
  return n.compare(ComparePredicate::NE, operand, zero);
}

Tensor smp::operandAs(NodeImporter &n, StringRef name, Type element,
                      const Shape &shape) {
  for (const pt2::Argument &argument : n.node.arguments)
    if (argument.name == name && argument.kind == pt2::Argument::Kind::Tensor)
      return n.broadcast(convert(n, n.tensor(name), element), shape);
  return n.fill(n.number(name, 0.0), element, shape);
}
