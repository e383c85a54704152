// RUN: smp-opt %s --canonicalize | FileCheck %s

// Elementwise ops: what is folded keeps every bit of the result, and what would not is kept.

// CHECK-LABEL: func.func @neg_of_neg_is_the_operand(
// CHECK-SAME: %[[X:.+]]: tensor<2xf32>
// CHECK-NEXT: return %[[X]]
func.func @neg_of_neg_is_the_operand(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = smp.neg %x : tensor<2xf32>
  %1 = smp.neg %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: func.func @not_of_not_is_the_operand(
// CHECK-SAME: %[[X:.+]]: tensor<2xi1>
// CHECK-NEXT: return %[[X]]
func.func @not_of_not_is_the_operand(%x: tensor<2xi1>) -> tensor<2xi1> {
  %0 = smp.not %x : tensor<2xi1>
  %1 = smp.not %0 : tensor<2xi1>
  return %1 : tensor<2xi1>
}

// CHECK-LABEL: func.func @not_of_a_constant_is_a_constant(
// CHECK-NEXT: %[[R:.+]] = smp.constant dense<false> : tensor<2xi1>
// CHECK-NEXT: return %[[R]]
func.func @not_of_a_constant_is_a_constant() -> tensor<2xi1> {
  %0 = smp.constant dense<true> : tensor<2xi1>
  %1 = smp.not %0 : tensor<2xi1>
  return %1 : tensor<2xi1>
}

// CHECK-LABEL: func.func @stop_gradient_twice_is_once(
// CHECK-SAME: %[[X:.+]]: tensor<2xf32>
// CHECK-NEXT: %[[R:.+]] = smp.stop_gradient %[[X]]
// CHECK-NEXT: return %[[R]]
func.func @stop_gradient_twice_is_once(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = smp.stop_gradient %x : tensor<2xf32>
  %1 = smp.stop_gradient %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
}

//===----------------------------------------------------------------------===//
// Neutral elements
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @add_of_minus_zero_is_the_operand(
// CHECK-SAME: %[[X:.+]]: tensor<2xf32>
// CHECK-NEXT: return %[[X]], %[[X]]
func.func @add_of_minus_zero_is_the_operand(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %z = smp.fill -0.0 : tensor<2xf32>
  %0 = smp.add %x, %z : tensor<2xf32>
  %1 = smp.add %z, %x : tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// -0 + 0 is 0.
// CHECK-LABEL: func.func @add_of_zero_is_kept(
// CHECK: %[[R:.+]] = smp.add
// CHECK-NEXT: return %[[R]]
func.func @add_of_zero_is_kept(%x: tensor<2xf32>) -> tensor<2xf32> {
  %z = smp.fill 0.0 : tensor<2xf32>
  %0 = smp.add %x, %z : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @add_of_integer_zero_is_the_operand(
// CHECK-SAME: %[[X:.+]]: tensor<2xi64>
// CHECK-NEXT: return %[[X]]
func.func @add_of_integer_zero_is_the_operand(%x: tensor<2xi64>) -> tensor<2xi64> {
  %z = smp.constant dense<0> : tensor<2xi64>
  %0 = smp.add %x, %z : tensor<2xi64>
  return %0 : tensor<2xi64>
}

// CHECK-LABEL: func.func @sub_of_zero_is_the_operand(
// CHECK-SAME: %[[X:.+]]: tensor<2xf32>
// CHECK-NEXT: return %[[X]]
func.func @sub_of_zero_is_the_operand(%x: tensor<2xf32>) -> tensor<2xf32> {
  %z = smp.fill 0.0 : tensor<2xf32>
  %0 = smp.sub %x, %z : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -0 - -0 is 0.
// CHECK-LABEL: func.func @sub_of_minus_zero_is_kept(
// CHECK: %[[R:.+]] = smp.sub
// CHECK-NEXT: return %[[R]]
func.func @sub_of_minus_zero_is_kept(%x: tensor<2xf32>) -> tensor<2xf32> {
  %z = smp.fill -0.0 : tensor<2xf32>
  %0 = smp.sub %x, %z : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @mul_by_one_is_the_operand(
// CHECK-SAME: %[[X:.+]]: tensor<2xf32>
// CHECK-NEXT: return %[[X]], %[[X]]
func.func @mul_by_one_is_the_operand(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %scalar = smp.fill 1.0 : tensor<f32>
  %one = smp.expand %scalar [] : tensor<f32> -> tensor<2xf32>
  %0 = smp.mul %x, %one : tensor<2xf32>
  %1 = smp.mul %one, %x : tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// Infinity times 0 is no number.
// CHECK-LABEL: func.func @mul_by_zero_is_kept(
// CHECK: %[[R:.+]] = smp.mul
// CHECK-NEXT: return %[[R]]
func.func @mul_by_zero_is_kept(%x: tensor<2xf32>) -> tensor<2xf32> {
  %z = smp.fill 0.0 : tensor<2xf32>
  %0 = smp.mul %x, %z : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @mul_by_integer_zero_is_zero(
// CHECK-NEXT: %[[Z:.+]] = smp.fill 0.000000e+00 : tensor<2xi64>
// CHECK-NEXT: return %[[Z]]
func.func @mul_by_integer_zero_is_zero(%x: tensor<2xi64>) -> tensor<2xi64> {
  %z = smp.fill 0.0 : tensor<2xi64>
  %0 = smp.mul %x, %z : tensor<2xi64>
  return %0 : tensor<2xi64>
}

// CHECK-LABEL: func.func @div_by_one_is_the_operand(
// CHECK-SAME: %[[X:.+]]: tensor<2xf32>
// CHECK-NEXT: return %[[X]]
func.func @div_by_one_is_the_operand(%x: tensor<2xf32>) -> tensor<2xf32> {
  %one = smp.constant dense<1.0> : tensor<2xf32>
  %0 = smp.div %x, %one : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @pow_of_one_is_the_base(
// CHECK-SAME: %[[X:.+]]: tensor<2xf32>
// CHECK-NEXT: return %[[X]]
func.func @pow_of_one_is_the_base(%x: tensor<2xf32>) -> tensor<2xf32> {
  %one = smp.fill 1.0 : tensor<2xf32>
  %0 = smp.pow %x, %one : tensor<2xf32>
  return %0 : tensor<2xf32>
}

//===----------------------------------------------------------------------===//
// Integer constants
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @add_of_integer_constants_is_a_constant(
// CHECK-NEXT: %[[R:.+]] = smp.constant dense<[11, 22]> : tensor<2xi64>
// CHECK-NEXT: return %[[R]]
func.func @add_of_integer_constants_is_a_constant() -> tensor<2xi64> {
  %a = smp.constant dense<[1, 2]> : tensor<2xi64>
  %b = smp.constant dense<[10, 20]> : tensor<2xi64>
  %0 = smp.add %a, %b : tensor<2xi64>
  return %0 : tensor<2xi64>
}

// CHECK-LABEL: func.func @sub_of_integer_constants_wraps(
// CHECK-NEXT: %[[R:.+]] = smp.constant dense<2147483647> : tensor<2xi32>
// CHECK-NEXT: return %[[R]]
func.func @sub_of_integer_constants_wraps() -> tensor<2xi32> {
  %a = smp.constant dense<-2147483648> : tensor<2xi32>
  %b = smp.constant dense<1> : tensor<2xi32>
  %0 = smp.sub %a, %b : tensor<2xi32>
  return %0 : tensor<2xi32>
}

// CHECK-LABEL: func.func @mul_of_integer_constants_is_a_constant(
// CHECK-NEXT: %[[R:.+]] = smp.constant dense<[12, 16]> : tensor<2xi64>
// CHECK-NEXT: return %[[R]]
func.func @mul_of_integer_constants_is_a_constant() -> tensor<2xi64> {
  %a = smp.constant dense<[3, 4]> : tensor<2xi64>
  %b = smp.constant dense<4> : tensor<2xi64>
  %0 = smp.mul %a, %b : tensor<2xi64>
  return %0 : tensor<2xi64>
}

// CHECK-LABEL: func.func @add_of_floating_constants_is_kept(
// CHECK: %[[R:.+]] = smp.add
// CHECK-NEXT: return %[[R]]
func.func @add_of_floating_constants_is_kept() -> tensor<2xf32> {
  %a = smp.constant dense<[0.1, 0.2]> : tensor<2xf32>
  %0 = smp.add %a, %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}

//===----------------------------------------------------------------------===//
// Logic
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @and_of_itself_is_the_operand(
// CHECK-SAME: %[[X:.+]]: tensor<2xi1>
// CHECK-NEXT: return %[[X]]
func.func @and_of_itself_is_the_operand(%x: tensor<2xi1>) -> tensor<2xi1> {
  %0 = smp.and %x, %x : tensor<2xi1>
  return %0 : tensor<2xi1>
}

// CHECK-LABEL: func.func @and_with_a_known_operand(
// CHECK-SAME: %[[X:.+]]: tensor<2xi1>
// CHECK-NEXT: %[[F:.+]] = smp.fill 0.000000e+00 : tensor<2xi1>
// CHECK-NEXT: return %[[X]], %[[F]]
func.func @and_with_a_known_operand(%x: tensor<2xi1>) -> (tensor<2xi1>, tensor<2xi1>) {
  %true = smp.fill 1.0 : tensor<2xi1>
  %false = smp.fill 0.0 : tensor<2xi1>
  %0 = smp.and %x, %true : tensor<2xi1>
  %1 = smp.and %false, %x : tensor<2xi1>
  return %0, %1 : tensor<2xi1>, tensor<2xi1>
}

// CHECK-LABEL: func.func @or_with_a_known_operand(
// CHECK-SAME: %[[X:.+]]: tensor<2xi1>
// CHECK-NEXT: %[[T:.+]] = smp.constant dense<true> : tensor<2xi1>
// CHECK-NEXT: return %[[T]], %[[X]]
func.func @or_with_a_known_operand(%x: tensor<2xi1>) -> (tensor<2xi1>, tensor<2xi1>) {
  %true = smp.constant dense<true> : tensor<2xi1>
  %false = smp.constant dense<false> : tensor<2xi1>
  %0 = smp.or %x, %true : tensor<2xi1>
  %1 = smp.or %false, %x : tensor<2xi1>
  return %0, %1 : tensor<2xi1>, tensor<2xi1>
}

// CHECK-LABEL: func.func @select_of_equal_choices_is_the_choice(
// CHECK-SAME: %{{.+}}: tensor<2xi1>, %[[X:.+]]: tensor<2xf32>
// CHECK-NEXT: return %[[X]]
func.func @select_of_equal_choices_is_the_choice(%c: tensor<2xi1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = smp.select %c, %x, %x : tensor<2xi1>, tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @select_by_a_known_condition(
// CHECK-SAME: %[[X:.+]]: tensor<2xf32>, %[[Y:.+]]: tensor<2xf32>
// CHECK-NEXT: return %[[X]], %[[Y]]
func.func @select_by_a_known_condition(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %true = smp.constant dense<true> : tensor<2xi1>
  %false = smp.fill 0.0 : tensor<2xi1>
  %0 = smp.select %true, %x, %y : tensor<2xi1>, tensor<2xf32>
  %1 = smp.select %false, %x, %y : tensor<2xi1>, tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @select_by_a_complement_swaps_the_choices(
// CHECK-SAME: %[[C:.+]]: tensor<2xi1>, %[[X:.+]]: tensor<2xf32>, %[[Y:.+]]: tensor<2xf32>
// CHECK-NEXT: %[[R:.+]] = smp.select %[[C]], %[[Y]], %[[X]]
// CHECK-NEXT: return %[[R]]
func.func @select_by_a_complement_swaps_the_choices(%c: tensor<2xi1>, %x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = smp.not %c : tensor<2xi1>
  %1 = smp.select %0, %x, %y : tensor<2xi1>, tensor<2xf32>
  return %1 : tensor<2xf32>
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @cast_to_the_same_type_is_the_operand(
// CHECK-SAME: %[[X:.+]]: tensor<2xf32>
// CHECK-NEXT: return %[[X]]
func.func @cast_to_the_same_type_is_the_operand(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = smp.cast %x : tensor<2xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @cast_to_a_wider_type_and_back_is_the_operand(
// CHECK-SAME: %[[X:.+]]: tensor<2xbf16>, %[[N:.+]]: tensor<2xi32>
// CHECK-NEXT: return %[[X]], %[[N]]
func.func @cast_to_a_wider_type_and_back_is_the_operand(%x: tensor<2xbf16>, %n: tensor<2xi32>) -> (tensor<2xbf16>, tensor<2xi32>) {
  %0 = smp.cast %x : tensor<2xbf16> -> tensor<2xf32>
  %1 = smp.cast %0 : tensor<2xf32> -> tensor<2xbf16>
  %2 = smp.cast %n : tensor<2xi32> -> tensor<2xf64>
  %3 = smp.cast %2 : tensor<2xf64> -> tensor<2xi32>
  return %1, %3 : tensor<2xbf16>, tensor<2xi32>
}

// CHECK-LABEL: func.func @cast_to_a_narrower_type_and_back_is_kept(
// CHECK-NEXT: smp.cast %{{.+}} : tensor<2xf32> -> tensor<2xbf16>
// CHECK-NEXT: smp.cast %{{.+}} : tensor<2xbf16> -> tensor<2xf32>
// CHECK-NEXT: smp.cast %{{.+}} : tensor<2xi32> -> tensor<2xf32>
// CHECK-NEXT: smp.cast %{{.+}} : tensor<2xf32> -> tensor<2xi32>
func.func @cast_to_a_narrower_type_and_back_is_kept(%x: tensor<2xf32>, %n: tensor<2xi32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %0 = smp.cast %x : tensor<2xf32> -> tensor<2xbf16>
  %1 = smp.cast %0 : tensor<2xbf16> -> tensor<2xf32>
  %2 = smp.cast %n : tensor<2xi32> -> tensor<2xf32>
  %3 = smp.cast %2 : tensor<2xf32> -> tensor<2xi32>
  return %1, %3 : tensor<2xf32>, tensor<2xi32>
}

// CHECK-LABEL: func.func @cast_through_a_wider_type_is_one_cast(
// CHECK-SAME: %[[X:.+]]: tensor<2xf32>, %[[C:.+]]: tensor<2xi1>
// CHECK-NEXT: %[[A:.+]] = smp.cast %[[X]] : tensor<2xf32> -> tensor<2xbf16>
// CHECK-NEXT: %[[B:.+]] = smp.cast %[[C]] : tensor<2xi1> -> tensor<2xf32>
// CHECK-NEXT: return %[[A]], %[[B]]
func.func @cast_through_a_wider_type_is_one_cast(%x: tensor<2xf32>, %c: tensor<2xi1>) -> (tensor<2xbf16>, tensor<2xf32>) {
  %0 = smp.cast %x : tensor<2xf32> -> tensor<2xf64>
  %1 = smp.cast %0 : tensor<2xf64> -> tensor<2xbf16>
  %2 = smp.cast %c : tensor<2xi1> -> tensor<2xi64>
  %3 = smp.cast %2 : tensor<2xi64> -> tensor<2xf32>
  return %1, %3 : tensor<2xbf16>, tensor<2xf32>
}

// Its gradient would round once instead of twice.
// CHECK-LABEL: func.func @cast_to_ever_wider_types_is_kept(
// CHECK-NEXT: smp.cast %{{.+}} : tensor<2xbf16> -> tensor<2xf32>
// CHECK-NEXT: smp.cast %{{.+}} : tensor<2xf32> -> tensor<2xf64>
func.func @cast_to_ever_wider_types_is_kept(%x: tensor<2xbf16>) -> tensor<2xf64> {
  %0 = smp.cast %x : tensor<2xbf16> -> tensor<2xf32>
  %1 = smp.cast %0 : tensor<2xf32> -> tensor<2xf64>
  return %1 : tensor<2xf64>
}

//===----------------------------------------------------------------------===//
// What nothing uses
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @unused_ops_are_dropped(
// CHECK-NEXT: return
func.func @unused_ops_are_dropped(%x: tensor<2xf32>) {
  %0 = smp.exp %x : tensor<2xf32>
  %1 = smp.softmax %0 : tensor<2xf32>
  return
}
