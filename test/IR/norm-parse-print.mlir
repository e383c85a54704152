// RUN: smp-opt %s | smp-opt | FileCheck %s

// Normalisations along the last dim: what is printed is what was parsed.

// CHECK-LABEL: func.func @layer_norm(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x8xf32>, %[[ARG1:.+]]: tensor<8xf32>
// CHECK-NEXT: %[[RESULT:.+]], %[[MEAN:.+]], %[[RSTD:.+]] = smp.layer_norm %[[ARG0]] weight %[[ARG1]] : tensor<8xf32> epsilon 1.000000e-05 : tensor<2x8xf32>
func.func @layer_norm(%x: tensor<2x8xf32>, %w: tensor<8xf32>) {
  %r, %mean, %rstd = smp.layer_norm %x weight %w : tensor<8xf32> epsilon 1.0e-05 : tensor<2x8xf32>
  return
}

// CHECK-LABEL: func.func @layer_norm_with_bias(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x8xf32>, %[[ARG1:.+]]: tensor<8xf32>, %[[ARG2:.+]]: tensor<8xf32>
// CHECK-NEXT: %[[RESULT:.+]], %[[MEAN:.+]], %[[RSTD:.+]] = smp.layer_norm %[[ARG0]] weight %[[ARG1]] : tensor<8xf32> bias %[[ARG2]] : tensor<8xf32> epsilon 1.000000e-05 : tensor<2x8xf32>
func.func @layer_norm_with_bias(%x: tensor<2x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) {
  %r, %mean, %rstd = smp.layer_norm %x weight %w : tensor<8xf32> bias %b : tensor<8xf32> epsilon 1.0e-05 : tensor<2x8xf32>
  return
}

// CHECK-LABEL: func.func @layer_norm_plain(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x8xf32>
// CHECK-NEXT: %[[RESULT:.+]], %[[MEAN:.+]], %[[RSTD:.+]] = smp.layer_norm %[[ARG0]] epsilon 1.000000e-05 : tensor<2x8xf32>
func.func @layer_norm_plain(%x: tensor<2x8xf32>) {
  %r, %mean, %rstd = smp.layer_norm %x epsilon 1.0e-05 : tensor<2x8xf32>
  return
}

// CHECK-LABEL: func.func @layer_norm_grad(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x8xf32>, %[[ARG1:.+]]: tensor<2x8xf32>, %[[ARG2:.+]]: tensor<2xf32>, %[[ARG3:.+]]: tensor<2xf32>
// CHECK-NEXT: %[[OPERAND_GRAD:.+]], %[[WEIGHT_GRAD:.+]], %[[BIAS_GRAD:.+]] = smp.layer_norm_grad %[[ARG0]], %[[ARG1]] mean %[[ARG2]] rstd %[[ARG3]] : tensor<2x8xf32>, tensor<2xf32>
func.func @layer_norm_grad(%c: tensor<2x8xf32>, %x: tensor<2x8xf32>, %m: tensor<2xf32>, %s: tensor<2xf32>) {
  %dx, %dw, %db = smp.layer_norm_grad %c, %x mean %m rstd %s : tensor<2x8xf32>, tensor<2xf32>
  return
}

// CHECK-LABEL: func.func @layer_norm_grad_with_weight(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x8xf32>, %[[ARG1:.+]]: tensor<2x8xf32>, %[[ARG2:.+]]: tensor<8xf32>, %[[ARG3:.+]]: tensor<2xf32>, %[[ARG4:.+]]: tensor<2xf32>
// CHECK-NEXT: %[[OPERAND_GRAD:.+]], %[[WEIGHT_GRAD:.+]], %[[BIAS_GRAD:.+]] = smp.layer_norm_grad %[[ARG0]], %[[ARG1]] weight %[[ARG2]] : tensor<8xf32> mean %[[ARG3]] rstd %[[ARG4]] : tensor<2x8xf32>, tensor<2xf32>
func.func @layer_norm_grad_with_weight(%c: tensor<2x8xf32>, %x: tensor<2x8xf32>, %w: tensor<8xf32>, %m: tensor<2xf32>, %s: tensor<2xf32>) {
  %dx, %dw, %db = smp.layer_norm_grad %c, %x weight %w : tensor<8xf32> mean %m rstd %s : tensor<2x8xf32>, tensor<2xf32>
  return
}

// CHECK-LABEL: func.func @rms_norm(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x8xf32>, %[[ARG1:.+]]: tensor<8xf32>
// CHECK-NEXT: %[[RESULT:.+]], %[[RSTD:.+]] = smp.rms_norm %[[ARG0]] weight %[[ARG1]] : tensor<8xf32> epsilon 9.9999999999999995E-7 : tensor<2x8xf32>
func.func @rms_norm(%x: tensor<2x8xf32>, %w: tensor<8xf32>) {
  %r, %rstd = smp.rms_norm %x weight %w : tensor<8xf32> epsilon 1.0e-06 : tensor<2x8xf32>
  return
}

// CHECK-LABEL: func.func @rms_norm_plain(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x8xf32>
// CHECK-NEXT: %[[RESULT:.+]], %[[RSTD:.+]] = smp.rms_norm %[[ARG0]] epsilon 9.9999999999999995E-7 : tensor<2x8xf32>
func.func @rms_norm_plain(%x: tensor<2x8xf32>) {
  %r, %rstd = smp.rms_norm %x epsilon 1.0e-06 : tensor<2x8xf32>
  return
}

// CHECK-LABEL: func.func @rms_norm_grad(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x8xf32>, %[[ARG1:.+]]: tensor<2x8xf32>, %[[ARG2:.+]]: tensor<2xf32>
// CHECK-NEXT: %[[OPERAND_GRAD:.+]], %[[WEIGHT_GRAD:.+]] = smp.rms_norm_grad %[[ARG0]], %[[ARG1]] rstd %[[ARG2]] : tensor<2x8xf32>, tensor<2xf32>
func.func @rms_norm_grad(%c: tensor<2x8xf32>, %x: tensor<2x8xf32>, %s: tensor<2xf32>) {
  %dx, %dw = smp.rms_norm_grad %c, %x rstd %s : tensor<2x8xf32>, tensor<2xf32>
  return
}

// CHECK-LABEL: func.func @rms_norm_grad_with_weight(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x8xf32>, %[[ARG1:.+]]: tensor<2x8xf32>, %[[ARG2:.+]]: tensor<8xf32>, %[[ARG3:.+]]: tensor<2xf32>
// CHECK-NEXT: %[[OPERAND_GRAD:.+]], %[[WEIGHT_GRAD:.+]] = smp.rms_norm_grad %[[ARG0]], %[[ARG1]] weight %[[ARG2]] : tensor<8xf32> rstd %[[ARG3]] : tensor<2x8xf32>, tensor<2xf32>
func.func @rms_norm_grad_with_weight(%c: tensor<2x8xf32>, %x: tensor<2x8xf32>, %w: tensor<8xf32>, %s: tensor<2xf32>) {
  %dx, %dw = smp.rms_norm_grad %c, %x weight %w : tensor<8xf32> rstd %s : tensor<2x8xf32>, tensor<2xf32>
  return
}

// CHECK-LABEL: func.func @softmax(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x8xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.softmax %[[ARG0]] : tensor<2x8xf32>
func.func @softmax(%x: tensor<2x8xf32>) {
  %r = smp.softmax %x : tensor<2x8xf32>
  return
}

// CHECK-LABEL: func.func @softmax_grad(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x8xf32>, %[[ARG1:.+]]: tensor<2x8xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.softmax_grad %[[ARG0]], %[[ARG1]] : tensor<2x8xf32>
func.func @softmax_grad(%c: tensor<2x8xf32>, %y: tensor<2x8xf32>) {
  %r = smp.softmax_grad %c, %y : tensor<2x8xf32>
  return
}
