//===- SmpAttrs.cpp - Text and checks of the attributes -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/IR/SmpDialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace smp;

#define GET_ATTRDEF_CLASSES
#include "smp/IR/SmpAttrs.cpp.inc"

void SmpDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "smp/IR/SmpAttrs.cpp.inc"
      >();
}

/// Position of an axis in the canonical order, or -1.
static int axisOrder(StringRef name) {
  static constexpr llvm::StringLiteral order[] = {"pp", "tp", "rdp"};
  const auto *it = llvm::find(order, name);
  return it == std::end(order) ? -1 : int(it - std::begin(order));
}

/// Parses the keyword of an enumeration.
template <typename Enum>
static FailureOr<Enum> parseEnum(AsmParser &parser,
                                 std::optional<Enum> (*symbolize)(StringRef),
                                 StringRef what) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  if (std::optional<Enum> value = symbolize(keyword))
    return *value;
  parser.emitError(loc) << "expects " << what << ", got '" << keyword << "'";
  return failure();
}

//===----------------------------------------------------------------------===//
// MaskAttr: <window, 3, 0>
//===----------------------------------------------------------------------===//

/// How many numbers follow the kind.
static int parameterCount(MaskKind kind) {
  return kind == MaskKind::Window ? 2 : kind == MaskKind::Prefix ? 1 : 0;
}

Attribute MaskAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  FailureOr<MaskKind> kind = parseEnum<MaskKind>(
      parser, symbolizeMaskKind, "none, causal, window or prefix");
  if (failed(kind))
    return {};
  int64_t numbers[2] = {0, 0};
  for (int i = 0; i < parameterCount(*kind); ++i)
    if (parser.parseComma() || parser.parseInteger(numbers[i]))
      return {};
  if (parser.parseGreater())
    return {};
  return MaskAttr::getChecked([&] { return parser.emitError(loc); },
                              parser.getContext(), *kind, numbers[0],
                              numbers[1]);
}

void MaskAttr::print(AsmPrinter &printer) const {
  printer << "<" << stringifyMaskKind(getKind());
  int64_t numbers[2] = {getFirst(), getSecond()};
  for (int i = 0; i < parameterCount(getKind()); ++i)
    printer << ", " << numbers[i];
  printer << ">";
}

LogicalResult MaskAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               MaskKind kind, int64_t first, int64_t second) {
  // mask_c1
  int64_t used[2] = {first, second};
  for (int64_t number : ArrayRef(used).drop_front(parameterCount(kind)))
    if (number != 0)
      return emitError() << "expects " << parameterCount(kind)
                         << " numbers of a mask '" << stringifyMaskKind(kind)
                         << "', got " << number << " more";
  if (first < 0 || second < 0)
    return emitError()
           << "expects numbers of keys of at least 0 in a mask, got "
           << std::min(first, second);
  return success();
}

int64_t MaskAttr::endKey(int64_t q, int64_t keys) const {
  switch (getKind()) {
  case MaskKind::None:
    return keys;
  case MaskKind::Causal:
    return std::min(keys, q + 1);
  case MaskKind::Window:
    return std::min(keys, q + getSecond() + 1);
  case MaskKind::Prefix:
    return std::min(keys, std::max(q + 1, getFirst()));
  }
  llvm_unreachable("all kinds end somewhere");
}

//===----------------------------------------------------------------------===//
// InitAttr: <normal, 0.0, 0.02>
//===----------------------------------------------------------------------===//

/// How many numbers follow the kind.
static int parameterCount(InitKind kind) {
  return kind == InitKind::Constant          ? 1
         : kind == InitKind::TruncatedNormal ? 4
                                             : 2;
}

Attribute InitAttr::parse(AsmParser &parser, Type) {
  double numbers[4] = {};
  if (parser.parseLess())
    return {};
  FailureOr<InitKind> kind =
      parseEnum<InitKind>(parser, symbolizeInitKind,
                          "constant, normal, uniform or truncated_normal");
  if (failed(kind))
    return {};
  for (int i = 0; i < parameterCount(*kind); ++i)
    if (parser.parseComma() || parser.parseFloat(numbers[i]))
      return {};
  int64_t zeroed[2] = {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("zeroed") || parser.parseInteger(zeroed[0]) ||
       parser.parseKeyword("to") || parser.parseInteger(zeroed[1])))
    return {};
  if (parser.parseGreater())
    return {};
  return InitAttr::get(parser.getContext(), *kind, numbers[0], numbers[1],
                       numbers[2], numbers[3], zeroed[0], zeroed[1]);
}

void InitAttr::print(AsmPrinter &printer) const {
  printer << "<" << stringifyInitKind(getKind());
  const APFloat numbers[4] = {getFirst(), getSecond(), getThird(), getFourth()};
  for (int i = 0; i < parameterCount(getKind()); ++i) {
    printer << ", ";
    printer.printFloat(numbers[i]);
  }
  if (getZeroEnd() > 0)
    printer << ", zeroed " << getZeroBegin() << " to " << getZeroEnd();
  printer << ">";
}

//===----------------------------------------------------------------------===//
// AxisAttr: <pp{0, 3}>
//===----------------------------------------------------------------------===//

static FailureOr<AxisAttr> parseAxis(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  SmallVector<int64_t> members;
  if (parser.parseKeyword(&name))
    return failure();
  if (succeeded(parser.parseOptionalLBrace())) {
    auto parseMember = [&] {
      return parser.parseInteger(members.emplace_back());
    };
    if (parser.parseCommaSeparatedList(parseMember) || parser.parseRBrace())
      return failure();
  }
  AxisAttr axis = AxisAttr::getChecked([&] { return parser.emitError(loc); },
                                       parser.getContext(), name, members);
  if (!axis)
    return failure();
  return axis;
}

static void printAxis(AsmPrinter &printer, AxisAttr axis) {
  printer << axis.getName();
  if (axis.getMembers().empty())
    return;
  printer << "{";
  llvm::interleaveComma(axis.getMembers(), printer);
  printer << "}";
}

Attribute AxisAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<AxisAttr> axis = parseAxis(parser);
  if (failed(axis) || parser.parseGreater())
    return {};
  return *axis;
}

void AxisAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printAxis(printer, *this);
  printer << ">";
}

LogicalResult AxisAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               StringRef name, ArrayRef<int64_t> members) {
  if (axisOrder(name) < 0) // axis_c1
    return emitError() << "expects axis pp, tp or rdp, got '" << name << "'";
  for (auto [index, member] : llvm::enumerate(members)) // axis_c2
    if (member < 0 || (index > 0 && member <= members[index - 1]))
      return emitError() << "expects members of axis '" << name
                         << "' in ascending order from 0, got " << member;
  return success();
}

//===----------------------------------------------------------------------===//
// GroupAttr: <pp{0, 3}, rdp>
//===----------------------------------------------------------------------===//

static LogicalResult verifyOrder(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<AxisAttr> axes) {
  for (size_t i = 1; i < axes.size(); ++i)
    if (axisOrder(axes[i].getName()) <= axisOrder(axes[i - 1].getName()))
      return emitError() << "expects axes in the order pp, tp, rdp, each at "
                            "most once, got '"
                         << axes[i].getName() << "' after '"
                         << axes[i - 1].getName() << "'";
  return success();
}

Attribute GroupAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<AxisAttr> axes;
  auto parseElement = [&]() -> ParseResult {
    FailureOr<AxisAttr> axis = parseAxis(parser);
    if (succeeded(axis))
      axes.push_back(*axis);
    return failure(failed(axis));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseElement))
    return {};
  return GroupAttr::getChecked([&] { return parser.emitError(loc); },
                               parser.getContext(), axes);
}

void GroupAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(getAxes(), printer,
                        [&](AxisAttr axis) { printAxis(printer, axis); });
  printer << ">";
}

LogicalResult GroupAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<AxisAttr> axes) {
  if (axes.empty()) // group_c1
    return emitError() << "expects at least one axis in a group, got none";
  return verifyOrder(emitError, axes); // group_c2
}

//===----------------------------------------------------------------------===//
// LayoutAttr: <pp{0, 3} = owned(3), rdp = partial>
//===----------------------------------------------------------------------===//

static bool hasArgument(Placement placement) {
  return placement == Placement::Split || placement == Placement::Owned;
}

static FailureOr<AxisPlacementAttr> parsePlacement(AsmParser &parser) {
  FailureOr<AxisAttr> axis = parseAxis(parser);
  if (failed(axis) || parser.parseEqual())
    return failure();
  FailureOr<Placement> placement = parseEnum<Placement>(
      parser, symbolizePlacement, "replicated, partial, split or owned");
  if (failed(placement))
    return failure();
  int64_t argument = 0;
  if (hasArgument(*placement) &&
      (parser.parseLParen() || parser.parseInteger(argument) ||
       parser.parseRParen()))
    return failure();
  return AxisPlacementAttr::get(parser.getContext(), *axis, *placement,
                                argument);
}

static void printPlacement(AsmPrinter &printer, AxisPlacementAttr placed) {
  printAxis(printer, placed.getAxis());
  printer << " = " << stringifyPlacement(placed.getPlacement());
  if (hasArgument(placed.getPlacement()))
    printer << "(" << placed.getArgument() << ")";
}

Attribute AxisPlacementAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<AxisPlacementAttr> placed = parsePlacement(parser);
  if (failed(placed) || parser.parseGreater())
    return {};
  return *placed;
}

void AxisPlacementAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printPlacement(printer, *this);
  printer << ">";
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<AxisPlacementAttr> placements;
  auto parseElement = [&]() -> ParseResult {
    FailureOr<AxisPlacementAttr> placed = parsePlacement(parser);
    if (succeeded(placed))
      placements.push_back(*placed);
    return failure(failed(placed));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseElement))
    return {};
  return LayoutAttr::getChecked([&] { return parser.emitError(loc); },
                                parser.getContext(), placements);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(
      getPlacements(), printer,
      [&](AxisPlacementAttr placed) { printPlacement(printer, placed); });
  printer << ">";
}

/// Whether an owner is a position of its axis, as far as that is known.
static bool isPosition(AxisAttr axis, int64_t position) {
  ArrayRef<int64_t> members = axis.getMembers();
  return members.empty() ? position >= 0
                         : llvm::is_contained(members, position);
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<AxisPlacementAttr> placements) {
  SmallVector<AxisAttr> axes;
  for (AxisPlacementAttr placed : placements) {
    axes.push_back(placed.getAxis());
    if (placed.getPlacement() == Placement::Replicated) // layout_c1
      return emitError() << "expects no replicated axis in a layout (they are "
                            "not written), got '"
                         << placed.getAxis().getName() << "'";
    if (placed.getPlacement() == Placement::Owned && // layout_c3
        !isPosition(placed.getAxis(), placed.getArgument()))
      return emitError() << "expects an owner among the positions of axis '"
                         << placed.getAxis().getName() << "', got "
                         << placed.getArgument();
  }
  return verifyOrder(emitError, axes); // layout_c2
}
