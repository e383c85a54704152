// A scheduled module, as the phase `schedule` leaves it: two chunks on two ranks,
// two microbatches of two rows, SGD with clipping. The loss is the sum of the
// squared outputs by their number.

module attributes {smp.rows = 2 : i64} {
  smp.parameter @"up.weight" : tensor<5x4xf32> init <normal, 0.0, 0.5>
  smp.parameter @"up.bias" : tensor<5xf32> init <constant, 0.1>
  smp.parameter @"down.weight" : tensor<3x5xf32> init <uniform, -0.5, 0.5>
  smp.state @shift : tensor<3xf32> = dense<[0.1, 0.2, 0.3]> : tensor<3xf32>

  func.func @chunk0_forward(
      %x: tensor<2x4xf32> {smp.binding = #smp.binding<input, "x">, smp.role = "input"},
      %w: tensor<5x4xf32> {smp.binding = #smp.binding<parameter, "up.weight">},
      %b: tensor<5xf32> {smp.binding = #smp.binding<parameter, "up.bias">})
      -> (tensor<2x5xf32> {smp.binding = #smp.binding<activation, "v0">},
          tensor<2x5xf32> {smp.binding = #smp.binding<saved, "0">}) {
    %0 = smp.linear %x, %w {scope = "up"} : tensor<2x4xf32>, tensor<5x4xf32>
    %1 = smp.expand %b [1] {scope = "up"} : tensor<5xf32> -> tensor<2x5xf32>
    %2 = smp.add %0, %1 {scope = "up"} : tensor<2x5xf32>
    %3 = smp.tanh %2 : tensor<2x5xf32>
    return %3, %3 : tensor<2x5xf32>, tensor<2x5xf32>
  }
  func.func @chunk0_backward(
      %x: tensor<2x4xf32> {smp.binding = #smp.binding<input, "x">},
      %y: tensor<2x5xf32> {smp.binding = #smp.binding<saved, "0">},
      %c: tensor<2x5xf32> {smp.binding = #smp.binding<cotangent, "v0">},
      %gw: tensor<5x4xf32> {smp.binding = #smp.binding<gradient, "up.weight">},
      %gb: tensor<5xf32> {smp.binding = #smp.binding<gradient, "up.bias">})
      -> (tensor<5x4xf32> {smp.binding = #smp.binding<gradient, "up.weight">},
          tensor<5xf32> {smp.binding = #smp.binding<gradient, "up.bias">}) {
    %one = smp.fill 1.0 : tensor<2x5xf32>
    %0 = smp.mul %y, %y : tensor<2x5xf32>
    %1 = smp.sub %one, %0 : tensor<2x5xf32>
    %2 = smp.mul %c, %1 : tensor<2x5xf32>
    %3 = smp.reduce_sum %2 [0] : tensor<2x5xf32> -> tensor<5xf32>
    %4 = smp.add %gb, %3 : tensor<5xf32>
    %5 = smp.linear_weight_grad %2, %x {scope = "up"} : tensor<2x5xf32>, tensor<2x4xf32>
    %6 = smp.add %gw, %5 : tensor<5x4xf32>
    return %6, %4 : tensor<5x4xf32>, tensor<5xf32>
  }
  func.func @chunk1_count(
      %y: tensor<2xi64> {smp.binding = #smp.binding<input, "labels">, smp.role = "label"},
      %n: tensor<i64> {smp.binding = #smp.binding<count, "loss">})
      -> (tensor<i64> {smp.binding = #smp.binding<count, "loss">}) {
    %0 = smp.label_count %y ignore -100 : tensor<2xi64>
    %1 = smp.add %n, %0 : tensor<i64>
    return %1 : tensor<i64>
  }
  func.func @chunk1_forward(
      %h: tensor<2x5xf32> {smp.binding = #smp.binding<activation, "v0">},
      %y: tensor<2xi64> {smp.binding = #smp.binding<input, "labels">, smp.role = "label"},
      %w: tensor<3x5xf32> {smp.binding = #smp.binding<parameter, "down.weight">},
      %s: tensor<3xf32> {smp.binding = #smp.binding<state, "shift">},
      %n: tensor<i64> {smp.binding = #smp.binding<count, "loss">},
      %l: tensor<f32> {smp.binding = #smp.binding<loss, "loss">})
      -> (tensor<f32> {smp.binding = #smp.binding<loss, "loss">},
          tensor<2x5xf32> {smp.binding = #smp.binding<saved, "0">},
          tensor<2x3xf32> {smp.binding = #smp.binding<saved, "1">},
          tensor<2xf32> {smp.binding = #smp.binding<saved, "2">}) {
    %0 = smp.linear %h, %w {scope = "down"} : tensor<2x5xf32>, tensor<3x5xf32>
    %1 = smp.expand %s [1] : tensor<3xf32> -> tensor<2x3xf32>
    %2 = smp.add %0, %1 : tensor<2x3xf32>
    %sum, %count, %lse = smp.cross_entropy %2, %y ignore -100 : tensor<2x3xf32>, tensor<2xi64>
    %3 = smp.mean_loss "loss" %sum by %n : tensor<f32>
    %4 = smp.add %l, %3 : tensor<f32>
    return %4, %h, %2, %lse : tensor<f32>, tensor<2x5xf32>, tensor<2x3xf32>, tensor<2xf32>
  }
  func.func @chunk1_backward(
      %h: tensor<2x5xf32> {smp.binding = #smp.binding<saved, "0">},
      %z: tensor<2x3xf32> {smp.binding = #smp.binding<saved, "1">},
      %lse: tensor<2xf32> {smp.binding = #smp.binding<saved, "2">},
      %y: tensor<2xi64> {smp.binding = #smp.binding<input, "labels">, smp.role = "label"},
      %w: tensor<3x5xf32> {smp.binding = #smp.binding<parameter, "down.weight">},
      %n: tensor<i64> {smp.binding = #smp.binding<count, "loss">},
      %g: tensor<3x5xf32> {smp.binding = #smp.binding<gradient, "down.weight">})
      -> (tensor<2x5xf32> {smp.binding = #smp.binding<cotangent, "v0">},
          tensor<3x5xf32> {smp.binding = #smp.binding<gradient, "down.weight">}) {
    %one = smp.fill 1.0 : tensor<f32>
    %0 = smp.mean_loss "loss" %one by %n : tensor<f32>
    %1 = smp.cross_entropy_grad %0, %z, %y, %lse ignore -100 : tensor<2x3xf32>, tensor<2xi64>, tensor<2xf32>, tensor<f32>
    %2 = smp.linear %1, %w transposed {scope = "down"} : tensor<2x3xf32>, tensor<3x5xf32>
    %3 = smp.linear_weight_grad %1, %h {scope = "down"} : tensor<2x3xf32>, tensor<2x5xf32>
    %4 = smp.add %g, %3 : tensor<3x5xf32>
    return %2, %4 : tensor<2x5xf32>, tensor<3x5xf32>
  }
  func.func @chunk0_predict(
      %x: tensor<2x4xf32> {smp.binding = #smp.binding<input, "x">},
      %w: tensor<5x4xf32> {smp.binding = #smp.binding<parameter, "up.weight">},
      %b: tensor<5xf32> {smp.binding = #smp.binding<parameter, "up.bias">})
      -> (tensor<2x5xf32> {smp.binding = #smp.binding<activation, "v0">}) {
    %0 = smp.linear %x, %w {scope = "up"} : tensor<2x4xf32>, tensor<5x4xf32>
    %1 = smp.expand %b [1] {scope = "up"} : tensor<5xf32> -> tensor<2x5xf32>
    %2 = smp.add %0, %1 {scope = "up"} : tensor<2x5xf32>
    %3 = smp.tanh %2 : tensor<2x5xf32>
    return %3 : tensor<2x5xf32>
  }
  func.func @chunk1_predict(
      %h: tensor<2x5xf32> {smp.binding = #smp.binding<activation, "v0">},
      %w: tensor<3x5xf32> {smp.binding = #smp.binding<parameter, "down.weight">},
      %s: tensor<3xf32> {smp.binding = #smp.binding<state, "shift">})
      -> (tensor<2x3xf32> {smp.binding = #smp.binding<output, "logits">}) {
    %0 = smp.linear %h, %w {scope = "down"} : tensor<2x5xf32>, tensor<3x5xf32>
    %1 = smp.expand %s [1] : tensor<3xf32> -> tensor<2x3xf32>
    %2 = smp.add %0, %1 : tensor<2x3xf32>
    return %2 : tensor<2x3xf32>
  }

  func.func @rank0_begin_step()
      -> (tensor<5x4xf32> {smp.binding = #smp.binding<gradient, "up.weight">},
          tensor<5xf32> {smp.binding = #smp.binding<gradient, "up.bias">}) {
    %0 = smp.fill 0.0 : tensor<5x4xf32>
    %1 = smp.fill 0.0 : tensor<5xf32>
    return %0, %1 : tensor<5x4xf32>, tensor<5xf32>
  }
  func.func @rank1_begin_step(%n: tensor<i64> {smp.binding = #smp.binding<count, "loss">})
      -> (tensor<i64> {smp.binding = #smp.binding<count, "loss">},
          tensor<3x5xf32> {smp.binding = #smp.binding<gradient, "down.weight">},
          tensor<f32> {smp.binding = #smp.binding<loss, "loss">}) {
    %0 = smp.all_reduce %n over <rdp> because "count" : tensor<i64>
    %1 = smp.fill 0.0 : tensor<3x5xf32>
    %2 = smp.fill 0.0 : tensor<f32>
    return %0, %1, %2 : tensor<i64>, tensor<3x5xf32>, tensor<f32>
  }
  func.func @rank0_update(
      %gw: tensor<5x4xf32> {smp.binding = #smp.binding<gradient, "up.weight">},
      %gb: tensor<5xf32> {smp.binding = #smp.binding<gradient, "up.bias">},
      %w: tensor<5x4xf32> {smp.binding = #smp.binding<parameter, "up.weight">},
      %b: tensor<5xf32> {smp.binding = #smp.binding<parameter, "up.bias">})
      -> (tensor<f64> {smp.binding = #smp.binding<metric, "grad_norm">},
          tensor<5x4xf32> {smp.binding = #smp.binding<parameter, "up.weight">},
          tensor<5xf32> {smp.binding = #smp.binding<parameter, "up.bias">}) {
    %0 = smp.all_reduce %gw over <rdp> because "gradient" : tensor<5x4xf32>
    %1 = smp.all_reduce %gb over <rdp> because "gradient" : tensor<5xf32>
    %2 = smp.sum_of_squares %0 : tensor<5x4xf32>
    %3 = smp.sum_of_squares %1 : tensor<5xf32>
    %4 = smp.fill 0.0 : tensor<1xf64>
    %5 = smp.concat %2, %3, %4 dim 0 : (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>) -> tensor<3xf64>
    %6 = smp.all_reduce %5 over <pp> because "norm" : tensor<3xf64>
    %7 = smp.reduce_sum %6 [0] : tensor<3xf64> -> tensor<f64>
    %8 = smp.sqrt %7 : tensor<f64>
    %9 = smp.clip_factor %7 max 0.1
    %10 = smp.step_value learning_rate
    %11, %12 = smp.sgd %w, %0 rate %10 scale %9 momentum 0.0 decay 0.0 : tensor<5x4xf32>
    %13, %14 = smp.sgd %b, %1 rate %10 scale %9 momentum 0.0 decay 0.0 : tensor<5xf32>
    return %8, %11, %13 : tensor<f64>, tensor<5x4xf32>, tensor<5xf32>
  }
  func.func @rank1_update(
      %n: tensor<i64> {smp.binding = #smp.binding<count, "loss">},
      %g: tensor<3x5xf32> {smp.binding = #smp.binding<gradient, "down.weight">},
      %w: tensor<3x5xf32> {smp.binding = #smp.binding<parameter, "down.weight">})
      -> (tensor<f64> {smp.binding = #smp.binding<metric, "grad_norm">},
          tensor<i64> {smp.binding = #smp.binding<count, "loss">},
          tensor<3x5xf32> {smp.binding = #smp.binding<parameter, "down.weight">}) {
    %0 = smp.all_reduce %g over <rdp> because "gradient" : tensor<3x5xf32>
    %1 = smp.fill 0.0 : tensor<2xf64>
    %2 = smp.sum_of_squares %0 : tensor<3x5xf32>
    %3 = smp.concat %1, %2 dim 0 : (tensor<2xf64>, tensor<1xf64>) -> tensor<3xf64>
    %4 = smp.all_reduce %3 over <pp> because "norm" : tensor<3xf64>
    %5 = smp.reduce_sum %4 [0] : tensor<3xf64> -> tensor<f64>
    %6 = smp.sqrt %5 : tensor<f64>
    %7 = smp.clip_factor %5 max 0.1
    %8 = smp.step_value learning_rate
    %9, %10 = smp.sgd %w, %0 rate %8 scale %7 momentum 0.0 decay 0.0 : tensor<3x5xf32>
    %11 = smp.fill 0.0 : tensor<i64>
    return %6, %11, %9 : tensor<f64>, tensor<i64>, tensor<3x5xf32>
  }

  smp.chunk @chunk0 0 on 0 forward @chunk0_forward backward @chunk0_backward predict @chunk0_predict
  smp.chunk @chunk1 1 on 1 forward @chunk1_forward backward @chunk1_backward count @chunk1_count predict @chunk1_predict
  smp.rank @rank0 0 begin_step @rank0_begin_step update @rank0_update
  smp.rank @rank1 1 begin_step @rank1_begin_step update @rank1_update

  smp.schedule @train {
    smp.rank_schedule 0 {
      smp.launch @rank0_begin_step chunk -1 microbatch 0 slots {} waits []
      smp.load "x" microbatch 0 slot 0 waits []
      smp.launch @chunk0_forward chunk 0 microbatch 0 slots {"boundary.act.c0-c1" = 0 : i64, "input.x" = 0 : i64, "stash.c0" = 0 : i64} waits [0, 1]
      smp.send "act.c0-c1" peer 1 microbatch 0 slot 0 waits [2]
      smp.load "x" microbatch 1 slot 1 waits []
      smp.launch @chunk0_forward chunk 0 microbatch 1 slots {"boundary.act.c0-c1" = 1 : i64, "input.x" = 1 : i64, "stash.c0" = 1 : i64} waits [2, 4]
      smp.send "act.c0-c1" peer 1 microbatch 1 slot 1 waits [5]
      smp.recv "cot.c1-c0" peer 1 microbatch 0 slot 0 waits []
      smp.launch @chunk0_backward chunk 0 microbatch 0 slots {"boundary.cot.c1-c0" = 0 : i64, "input.x" = 0 : i64, "stash.c0" = 0 : i64} waits [5, 7]
      smp.recv "cot.c1-c0" peer 1 microbatch 1 slot 0 waits [8]
      smp.launch @chunk0_backward chunk 0 microbatch 1 slots {"boundary.cot.c1-c0" = 0 : i64, "input.x" = 1 : i64, "stash.c0" = 1 : i64} waits [8, 9]
      smp.launch @rank0_update chunk -1 microbatch 0 slots {} waits [10]
    }
    smp.rank_schedule 1 {
      smp.load "labels" microbatch 0 slot 0 waits []
      smp.load "labels" microbatch 1 slot 1 waits []
      smp.launch @chunk1_count chunk 1 microbatch 0 slots {"input.labels" = 0 : i64} waits [0]
      smp.launch @chunk1_count chunk 1 microbatch 1 slots {"input.labels" = 1 : i64} waits [1, 2]
      smp.launch @rank1_begin_step chunk -1 microbatch 0 slots {} waits [3]
      smp.recv "act.c0-c1" peer 0 microbatch 0 slot 0 waits []
      smp.launch @chunk1_forward chunk 1 microbatch 0 slots {"boundary.act.c0-c1" = 0 : i64, "input.labels" = 0 : i64, "stash.c1" = 0 : i64} waits [4, 5]
      smp.launch @chunk1_backward chunk 1 microbatch 0 slots {"boundary.cot.c1-c0" = 0 : i64, "input.labels" = 0 : i64, "stash.c1" = 0 : i64} waits [6]
      smp.send "cot.c1-c0" peer 0 microbatch 0 slot 0 waits [7]
      smp.recv "act.c0-c1" peer 0 microbatch 1 slot 1 waits []
      smp.launch @chunk1_forward chunk 1 microbatch 1 slots {"boundary.act.c0-c1" = 1 : i64, "input.labels" = 1 : i64, "stash.c1" = 0 : i64} waits [7, 9]
      smp.launch @chunk1_backward chunk 1 microbatch 1 slots {"boundary.cot.c1-c0" = 1 : i64, "input.labels" = 1 : i64, "stash.c1" = 0 : i64} waits [10]
      smp.send "cot.c1-c0" peer 0 microbatch 1 slot 1 waits [11]
      smp.launch @rank1_update chunk -1 microbatch 0 slots {} waits [11]
    }
  }
  smp.schedule @predict {
    smp.rank_schedule 0 {
      smp.load "x" microbatch 0 slot 0 waits []
      smp.launch @chunk0_predict chunk 0 microbatch 0 slots {"boundary.act.c0-c1" = 0 : i64, "input.x" = 0 : i64} waits [0]
      smp.send "act.c0-c1" peer 1 microbatch 0 slot 0 waits [1]
    }
    smp.rank_schedule 1 {
      smp.recv "act.c0-c1" peer 0 microbatch 0 slot 0 waits []
      smp.launch @chunk1_predict chunk 1 microbatch 0 slots {"boundary.act.c0-c1" = 0 : i64} waits [0]
    }
  }
}
