// RUN: smp-opt %s | smp-opt | FileCheck %s

// Elementwise ops: what is printed is what was parsed.

// CHECK-LABEL: func.func @neg(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.neg %[[ARG0]] : tensor<2x3xf32>
func.func @neg(%x: tensor<2x3xf32>) {
  %r = smp.neg %x : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @neg_with_scope(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x3xi64>
// CHECK-NEXT: %[[V0:.+]] = smp.neg %[[ARG0]] {scope = "transformer.h.0"} : tensor<?x3xi64>
func.func @neg_with_scope(%x: tensor<?x3xi64>) {
  %r = smp.neg %x {scope = "transformer.h.0"} : tensor<?x3xi64>
  return
}

// CHECK-LABEL: func.func @abs(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.abs %[[ARG0]] : tensor<2x3xf32>
func.func @abs(%x: tensor<2x3xf32>) {
  %r = smp.abs %x : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @exp(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.exp %[[ARG0]] : tensor<2x3xf32>
func.func @exp(%x: tensor<2x3xf32>) {
  %r = smp.exp %x : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @log(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.log %[[ARG0]] : tensor<2x3xf32>
func.func @log(%x: tensor<2x3xf32>) {
  %r = smp.log %x : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @sqrt(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.sqrt %[[ARG0]] : tensor<2x3xf32>
func.func @sqrt(%x: tensor<2x3xf32>) {
  %r = smp.sqrt %x : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @rsqrt(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.rsqrt %[[ARG0]] : tensor<2x3xf32>
func.func @rsqrt(%x: tensor<2x3xf32>) {
  %r = smp.rsqrt %x : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @sin(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.sin %[[ARG0]] : tensor<2x3xf32>
func.func @sin(%x: tensor<2x3xf32>) {
  %r = smp.sin %x : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @cos(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.cos %[[ARG0]] : tensor<2x3xf32>
func.func @cos(%x: tensor<2x3xf32>) {
  %r = smp.cos %x : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @tanh(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.tanh %[[ARG0]] : tensor<2x3xf32>
func.func @tanh(%x: tensor<2x3xf32>) {
  %r = smp.tanh %x : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @sigmoid(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.sigmoid %[[ARG0]] : tensor<2x3xf32>
func.func @sigmoid(%x: tensor<2x3xf32>) {
  %r = smp.sigmoid %x : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @relu(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.relu %[[ARG0]] : tensor<2x3xf32>
func.func @relu(%x: tensor<2x3xf32>) {
  %r = smp.relu %x : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @silu(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.silu %[[ARG0]] : tensor<2x3xf32>
func.func @silu(%x: tensor<2x3xf32>) {
  %r = smp.silu %x : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @gelu(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.gelu %[[ARG0]] form  tanh : tensor<2x3xf32>
func.func @gelu(%x: tensor<2x3xf32>) {
  %r = smp.gelu %x form tanh : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @gelu_exact(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2xbf16>
// CHECK-NEXT: %[[V0:.+]] = smp.gelu %[[ARG0]] : tensor<2xbf16>
func.func @gelu_exact(%x: tensor<2xbf16>) {
  %r = smp.gelu %x : tensor<2xbf16>
  return
}

// CHECK-LABEL: func.func @gelu_grad(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>, %[[ARG1:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.gelu_grad %[[ARG0]], %[[ARG1]] form  tanh : tensor<2x3xf32>
func.func @gelu_grad(%x: tensor<2x3xf32>, %g: tensor<2x3xf32>) {
  %r = smp.gelu_grad %x, %g form tanh : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @gelu_grad_exact(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2xf32>, %[[ARG1:.+]]: tensor<2xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.gelu_grad %[[ARG0]], %[[ARG1]] : tensor<2xf32>
func.func @gelu_grad_exact(%x: tensor<2xf32>, %g: tensor<2xf32>) {
  %r = smp.gelu_grad %x, %g : tensor<2xf32>
  return
}

// CHECK-LABEL: func.func @silu_grad(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>, %[[ARG1:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.silu_grad %[[ARG0]], %[[ARG1]] : tensor<2x3xf32>
func.func @silu_grad(%x: tensor<2x3xf32>, %g: tensor<2x3xf32>) {
  %r = smp.silu_grad %x, %g : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @not(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xi1>
// CHECK-NEXT: %[[V0:.+]] = smp.not %[[ARG0]] : tensor<2x3xi1>
func.func @not(%a: tensor<2x3xi1>) {
  %r = smp.not %a : tensor<2x3xi1>
  return
}

// CHECK-LABEL: func.func @cast(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xi64>
// CHECK-NEXT: %[[V0:.+]] = smp.cast %[[ARG0]] : tensor<2x3xi64> -> tensor<2x3xf32>
func.func @cast(%x: tensor<2x3xi64>) {
  %r = smp.cast %x : tensor<2x3xi64> -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @cast_to_bool(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xi8>
// CHECK-NEXT: %[[V0:.+]] = smp.cast %[[ARG0]] : tensor<2x3xi8> -> tensor<2x3xi1>
func.func @cast_to_bool(%x: tensor<2x3xi8>) {
  %r = smp.cast %x : tensor<2x3xi8> -> tensor<2x3xi1>
  return
}

// CHECK-LABEL: func.func @stop_gradient(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.stop_gradient %[[ARG0]] : tensor<2x3xf32>
func.func @stop_gradient(%x: tensor<2x3xf32>) {
  %r = smp.stop_gradient %x : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @add(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>, %[[ARG1:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.add %[[ARG0]], %[[ARG1]] : tensor<2x3xf32>
func.func @add(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  %r = smp.add %a, %b : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @sub(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>, %[[ARG1:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.sub %[[ARG0]], %[[ARG1]] : tensor<2x3xf32>
func.func @sub(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  %r = smp.sub %a, %b : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @mul(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>, %[[ARG1:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.mul %[[ARG0]], %[[ARG1]] : tensor<2x3xf32>
func.func @mul(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  %r = smp.mul %a, %b : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @div(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>, %[[ARG1:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.div %[[ARG0]], %[[ARG1]] : tensor<2x3xf32>
func.func @div(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  %r = smp.div %a, %b : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @pow(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>, %[[ARG1:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.pow %[[ARG0]], %[[ARG1]] : tensor<2x3xf32>
func.func @pow(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  %r = smp.pow %a, %b : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @maximum(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>, %[[ARG1:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.maximum %[[ARG0]], %[[ARG1]] : tensor<2x3xf32>
func.func @maximum(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  %r = smp.maximum %a, %b : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @minimum(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>, %[[ARG1:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.minimum %[[ARG0]], %[[ARG1]] : tensor<2x3xf32>
func.func @minimum(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  %r = smp.minimum %a, %b : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @and(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xi1>, %[[ARG1:.+]]: tensor<2x3xi1>
// CHECK-NEXT: %[[V0:.+]] = smp.and %[[ARG0]], %[[ARG1]] : tensor<2x3xi1>
func.func @and(%a: tensor<2x3xi1>, %b: tensor<2x3xi1>) {
  %r = smp.and %a, %b : tensor<2x3xi1>
  return
}

// CHECK-LABEL: func.func @or(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xi1>, %[[ARG1:.+]]: tensor<2x3xi1>
// CHECK-NEXT: %[[V0:.+]] = smp.or %[[ARG0]], %[[ARG1]] : tensor<2x3xi1>
func.func @or(%a: tensor<2x3xi1>, %b: tensor<2x3xi1>) {
  %r = smp.or %a, %b : tensor<2x3xi1>
  return
}

// CHECK-LABEL: func.func @compare(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>, %[[ARG1:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.compare  le %[[ARG0]], %[[ARG1]] : tensor<2x3xf32>
func.func @compare(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  %r = smp.compare le %a, %b : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @compare_eq(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2xi64>, %[[ARG1:.+]]: tensor<2xi64>
// CHECK-NEXT: %[[V0:.+]] = smp.compare  eq %[[ARG0]], %[[ARG1]] : tensor<2xi64>
func.func @compare_eq(%a: tensor<2xi64>, %b: tensor<2xi64>) {
  %r = smp.compare eq %a, %b : tensor<2xi64>
  return
}

// CHECK-LABEL: func.func @compare_ne(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2xi64>, %[[ARG1:.+]]: tensor<2xi64>
// CHECK-NEXT: %[[V0:.+]] = smp.compare  ne %[[ARG0]], %[[ARG1]] : tensor<2xi64>
func.func @compare_ne(%a: tensor<2xi64>, %b: tensor<2xi64>) {
  %r = smp.compare ne %a, %b : tensor<2xi64>
  return
}

// CHECK-LABEL: func.func @compare_lt(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2xi64>, %[[ARG1:.+]]: tensor<2xi64>
// CHECK-NEXT: %[[V0:.+]] = smp.compare  lt %[[ARG0]], %[[ARG1]] : tensor<2xi64>
func.func @compare_lt(%a: tensor<2xi64>, %b: tensor<2xi64>) {
  %r = smp.compare lt %a, %b : tensor<2xi64>
  return
}

// CHECK-LABEL: func.func @compare_gt(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2xi64>, %[[ARG1:.+]]: tensor<2xi64>
// CHECK-NEXT: %[[V0:.+]] = smp.compare  gt %[[ARG0]], %[[ARG1]] : tensor<2xi64>
func.func @compare_gt(%a: tensor<2xi64>, %b: tensor<2xi64>) {
  %r = smp.compare gt %a, %b : tensor<2xi64>
  return
}

// CHECK-LABEL: func.func @compare_ge(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2xi64>, %[[ARG1:.+]]: tensor<2xi64>
// CHECK-NEXT: %[[V0:.+]] = smp.compare  ge %[[ARG0]], %[[ARG1]] : tensor<2xi64>
func.func @compare_ge(%a: tensor<2xi64>, %b: tensor<2xi64>) {
  %r = smp.compare ge %a, %b : tensor<2xi64>
  return
}

// CHECK-LABEL: func.func @select(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xi1>, %[[ARG1:.+]]: tensor<2x3xf32>, %[[ARG2:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.select %[[ARG0]], %[[ARG1]], %[[ARG2]] : tensor<2x3xi1>, tensor<2x3xf32>
func.func @select(%c: tensor<2x3xi1>, %a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  %r = smp.select %c, %a, %b : tensor<2x3xi1>, tensor<2x3xf32>
  return
}
