//===- SmpAttrs.td - Attributes and enumerations -*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IR_SMPATTRS_TD
#define SMP_IR_SMPATTRS_TD

include "smp/IR/SmpBase.td"

class Smp_Attr<string name, string attrMnemonic> : AttrDef<Smp_Dialect, name> {
  let mnemonic = attrMnemonic;
}

class Smp_Enum<string name, string text, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, text, cases> {
  let cppNamespace = "::smp";
  let genSpecializedAttr = 0;
}

//===----------------------------------------------------------------------===//
// Enumerations of model ops
//===----------------------------------------------------------------------===//

def Smp_ComparePredicate : Smp_Enum<"ComparePredicate", "comparison", [
  I32EnumAttrCase<"EQ", 0, "eq">, I32EnumAttrCase<"NE", 1, "ne">,
  I32EnumAttrCase<"LT", 2, "lt">, I32EnumAttrCase<"LE", 3, "le">,
  I32EnumAttrCase<"GT", 4, "gt">, I32EnumAttrCase<"GE", 5, "ge">]>;
def Smp_ComparePredicateAttr : EnumAttr<Smp_Dialect, Smp_ComparePredicate, "compare"> {
  let assemblyFormat = "$value";
}

def Smp_GeluApproximation : Smp_Enum<"GeluApproximation", "form of gelu", [
  I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Tanh", 1, "tanh">]>;
def Smp_GeluApproximationAttr : EnumAttr<Smp_Dialect, Smp_GeluApproximation, "gelu"> {
  let assemblyFormat = "$value";
}

def Smp_StepValue : Smp_Enum<"StepValue", "number the runtime sets each step", [
  I32EnumAttrCase<"LearningRate", 0, "learning_rate">,
  I32EnumAttrCase<"BiasCorrection1", 1, "bias_correction1">,
  I32EnumAttrCase<"BiasCorrection2", 2, "bias_correction2">]>;
def Smp_StepValueAttr : EnumAttr<Smp_Dialect, Smp_StepValue, "step_value"> {
  let assemblyFormat = "$value";
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

def Smp_MaskKind : Smp_Enum<"MaskKind", "kind of attention mask", [
  I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Causal", 1, "causal">,
  I32EnumAttrCase<"Window", 2, "window">, I32EnumAttrCase<"Prefix", 3, "prefix">]>;

def Smp_MaskAttr : Smp_Attr<"Mask", "mask"> {
  let summary = "which keys a query may attend to";
  let description = [{
    A mask known when compiling, as a predicate of the query position `q` and
    the key position `k`, both counted from 0. It is never materialised.

    | kind | query `q` sees key `k` when |
    |---|---|
    | `none` | always |
    | `causal` | k <= q |
    | `window`, b, a | q - b <= k <= q + a |
    | `prefix`, n | k <= q or k < n |

    **Constraints**
    - mask_c1: a window has two numbers of keys, a prefix one, others none;
      they are not negative.

    Examples: `#smp.mask<causal>`, `#smp.mask<window, 127, 0>` (each query sees
    itself and the 127 keys before), `#smp.mask<prefix, 16>`.
  }];
  let parameters = (ins EnumParameter<Smp_MaskKind>:$kind,
                        DefaultValuedParameter<"int64_t", "0">:$first,
                        DefaultValuedParameter<"int64_t", "0">:$second);
  let skipDefaultBuilders = 1;
  let builders = [AttrBuilder<(ins "MaskKind":$kind, CArg<"int64_t", "0">:$first,
                                   CArg<"int64_t", "0">:$second), [{
    return $_get($_ctxt, kind, first, second);
  }]>];
  let extraClassDeclaration = [{
    /// The first key that the query at position `q` sees; never negative.
    int64_t firstKey(int64_t q) const {
      return getKind() == MaskKind::Window ? std::max<int64_t>(0, q - getFirst()) : 0;
    }
    /// One past the last key that the query at position `q` sees, of `keys`
    /// keys. What it sees has no gaps.
    int64_t endKey(int64_t q, int64_t keys) const;
    /// Whether the query at position `q` sees the key at position `k`.
    bool allows(int64_t q, int64_t k) const {
      return firstKey(q) <= k && k < endKey(q, k + 1);
    }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Initialisers
//===----------------------------------------------------------------------===//

def Smp_InitKind : Smp_Enum<"InitKind", "distribution of initial values", [
  I32EnumAttrCase<"Constant", 0, "constant">, I32EnumAttrCase<"Normal", 1, "normal">,
  I32EnumAttrCase<"Uniform", 2, "uniform">,
  I32EnumAttrCase<"TruncatedNormal", 3, "truncated_normal">]>;

def Smp_InitAttr : Smp_Attr<"Init", "init"> {
  let summary = "how a parameter is initialised";
  let description = [{
    `constant` has one value (`a`, and `b` is 0); `normal` the mean `a` and the
    standard deviation `b`; `uniform` the bounds `a` and `b`;
    `truncated_normal` a mean, a standard deviation, and the bounds `low` and
    `high` that values outside are drawn again for.

    Elements from `zero_begin` to before `zero_end` are 0, as the row of a
    padding token is.

    Examples: `#smp.init<normal, 0.0, 0.02>`,
    `#smp.init<truncated_normal, 0.0, 0.02, -0.04, 0.04>`,
    `#smp.init<normal, 0.0, 0.02, zeroed 0 to 32>`.
  }];
  let parameters = (ins EnumParameter<Smp_InitKind>:$kind,
                        APFloatParameter<"">:$first, APFloatParameter<"">:$second,
                        APFloatParameter<"">:$third, APFloatParameter<"">:$fourth,
                        "int64_t":$zero_begin, "int64_t":$zero_end);
  let builders = [AttrBuilder<(ins "InitKind":$kind, "double":$a, "double":$b,
                                   CArg<"double", "0">:$low, CArg<"double", "0">:$high,
                                   CArg<"int64_t", "0">:$zero_begin, CArg<"int64_t", "0">:$zero_end), [{
    return $_get($_ctxt, kind, ::llvm::APFloat(a), ::llvm::APFloat(b),
                 ::llvm::APFloat(low), ::llvm::APFloat(high), zero_begin, zero_end);
  }]>];
  let extraClassDeclaration = [{
    double getA() const { return getFirst().convertToDouble(); }
    double getB() const { return getSecond().convertToDouble(); }
    double getLow() const { return getThird().convertToDouble(); }
    double getHigh() const { return getFourth().convertToDouble(); }
  }];
  let hasCustomAssemblyFormat = 1;
}

//===----------------------------------------------------------------------===//
// Groups and layouts
//===----------------------------------------------------------------------===//

def Smp_AxisAttr : Smp_Attr<"Axis", "axis"> {
  let summary = "an axis of the grid, whole or restricted";
  let description = [{
    An axis `pp`, `tp` or `rdp` of the grid of ranks. `members`, when not empty,
    restricts it to these positions.

    **Constraints**
    - axis_c1: the name is that of an axis of the grid.
    - axis_c2: members ascend, from 0 on and without repeats.

    Examples: `#smp.axis<rdp>`, `#smp.axis<pp{0, 3}>`.
  }];
  let parameters = (ins StringRefParameter<"name">:$name,
                        OptionalArrayRefParameter<"int64_t">:$members);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Smp_GroupAttr : Smp_Attr<"Group", "group"> {
  let summary = "the ranks a collective runs over";
  let description = [{
    The ranks that differ only in the positions on these axes.

    **Constraints**
    - group_c1: there is an axis.
    - group_c2: axes are in the order `pp`, `tp`, `rdp`, each at most once.

    Example: `#smp.group<rdp>`, `#smp.group<pp{0, 3}, rdp>`.
  }];
  let parameters = (ins ArrayRefParameter<"AxisAttr">:$axes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Smp_Placement : Smp_Enum<"Placement", "what an axis does to a value", [
  I32EnumAttrCase<"Replicated", 0, "replicated">, I32EnumAttrCase<"Partial", 1, "partial">,
  I32EnumAttrCase<"Split", 2, "split">, I32EnumAttrCase<"Owned", 3, "owned">]>;

def Smp_AxisPlacementAttr : Smp_Attr<"AxisPlacement", "placed"> {
  let summary = "an axis and what it does to a value";
  let description = [{
    | placement | over the positions of the axis the value is |
    |---|---|
    | `replicated` | the same everywhere |
    | `partial` | the sum of what each position holds |
    | `split(d)` | cut along dim `d`, in order of position |
    | `owned(r)` | held by position `r` only; elsewhere undefined |
  }];
  let parameters = (ins "AxisAttr":$axis, EnumParameter<Smp_Placement>:$placement,
                        DefaultValuedParameter<"int64_t", "0">:$argument);
  let hasCustomAssemblyFormat = 1;
}

def Smp_LayoutAttr : Smp_Attr<"Layout", "layout"> {
  let summary = "how a value lies on the grid";
  let description = [{
    What each axis does to a value. Axes that are not named replicate it.
    Equal layouts are equal attributes.

    **Constraints**
    - layout_c1: no named axis is `replicated`.
    - layout_c2: axes are in the order `pp`, `tp`, `rdp`, each at most once.
    - layout_c3: what is `owned` is owned by a position of its axis.

    Examples: `#smp.layout<>`, `#smp.layout<rdp = partial>`,
    `#smp.layout<pp{0, 3} = owned(3)>`, `#smp.layout<tp = split(0)>`.
  }];
  let parameters = (ins OptionalArrayRefParameter<"AxisPlacementAttr">:$placements);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Bindings
//===----------------------------------------------------------------------===//

def Smp_BindingKind : Smp_Enum<"BindingKind", "what a program's operand is", [
  I32EnumAttrCase<"Input", 0, "input">,
  I32EnumAttrCase<"Parameter", 1, "parameter">,
  I32EnumAttrCase<"State", 2, "state">,
  I32EnumAttrCase<"Activation", 3, "activation">,
  I32EnumAttrCase<"Cotangent", 4, "cotangent">,
  I32EnumAttrCase<"Saved", 5, "saved">,
  I32EnumAttrCase<"Gradient", 6, "gradient">,
  I32EnumAttrCase<"Optimizer", 7, "optimizer">,
  I32EnumAttrCase<"Count", 8, "count">,
  I32EnumAttrCase<"Loss", 9, "loss">,
  I32EnumAttrCase<"Output", 10, "output">,
  I32EnumAttrCase<"Metric", 11, "metric">]>;

def Smp_BindingAttr : Smp_Attr<"Binding", "binding"> {
  let summary = "what an argument or result of a program stands for";
  let description = [{
    Programs are closed functions: whatever they use is an argument and
    whatever they change is a result. The attribute `smp.binding` of each
    argument and result says what it stands for, and so in which arena it lies.

    | kind | key | life |
    |---|---|---|
    | `input` | name of the model input | one microbatch |
    | `parameter` | name of the parameter | the job |
    | `state` | name of the state | the job |
    | `activation` | name of the value that crosses chunks | from producer to last consumer, one microbatch |
    | `cotangent` | name of the activation | one microbatch |
    | `saved` | number of the saved value in the chunk | forward to backward of one microbatch |
    | `gradient` | name under which the parameter is used (an alias has its own) | one step; as result it replaces the argument |
    | `optimizer` | `<parameter>/<state>` | the job |
    | `count` | name of the loss term | one step, summed over microbatches and owners; as result it replaces the argument |
    | `loss` | name of the loss term | one step, summed over microbatches; as result it replaces the argument |
    | `output` | name of the model output | one microbatch |
    | `metric` | name | one step |

    Example: `#smp.binding<parameter, "wte.weight">`.
  }];
  let parameters = (ins EnumParameter<Smp_BindingKind>:$kind, StringRefParameter<"key">:$key);
  let assemblyFormat = "`<` $kind `,` $key `>`";
}

#endif // SMP_IR_SMPATTRS_TD
