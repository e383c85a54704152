// RUN: smp-opt %s -verify-diagnostics -split-input-file

// Schedules and their actions: what violates a constraint, whose id stands above it, is refused.

// -----

// schedule_c1
// expected-error@+1 {{'smp.schedule' op expects a name train, evaluate or predict, got 'test'}}
smp.schedule @test {
  smp.rank_schedule 0 {
    smp.load "ids" microbatch 0 slot 0 waits []
  }
}

// -----

// schedule_c2
smp.schedule @train {
  // expected-error@+1 {{'smp.rank_schedule' op expects the list of rank 0, got that of rank 1}}
  smp.rank_schedule 1 {
    smp.load "ids" microbatch 0 slot 0 waits []
  }
}

// -----

// schedule_c2
smp.schedule @train {
  // expected-error@+1 {{'arith.constant' op expects to stand in a 'smp.rank_schedule', got 'smp.schedule'}}
  %c = arith.constant 0 : index
}

// -----

// schedule_c3
smp.schedule @train {
  smp.rank_schedule 0 {
    // expected-error@+1 {{'smp.send' op expects rank 1 to receive it, got no such action}}
    smp.send "act" peer 1 microbatch 0 slot 0 waits []
  }
  smp.rank_schedule 1 {
    smp.load "ids" microbatch 0 slot 0 waits []
  }
}

// -----

// schedule_c3
smp.schedule @train {
  smp.rank_schedule 0 {
    smp.load "ids" microbatch 0 slot 0 waits []
  }
  smp.rank_schedule 1 {
    // expected-error@+1 {{'smp.recv' op expects rank 0 to send it, got no such action}}
    smp.recv "act" peer 0 microbatch 0 slot 0 waits []
  }
}

// -----

// schedule_c3
smp.schedule @train {
  smp.rank_schedule 0 {
    // expected-note@+1 {{sent here}}
    smp.send "act" peer 1 microbatch 0 slot 0 waits []
    smp.send "act" peer 1 microbatch 1 slot 1 waits []
  }
  smp.rank_schedule 1 {
    // expected-error@+1 {{'smp.recv' op expects what rank 0 sends next, 'act' of microbatch 0, got 'act' of microbatch 1}}
    smp.recv "act" peer 0 microbatch 1 slot 1 waits []
    smp.recv "act" peer 0 microbatch 0 slot 0 waits []
  }
}

// -----

// schedule_c4
// expected-error@+1 {{'smp.schedule' op region should have no arguments}}
smp.schedule @train {
^bb0(%x: tensor<f32>):
  smp.rank_schedule 0 {
    smp.load "ids" microbatch 0 slot 0 waits []
  }
}

// -----

// rank_schedule_c1
smp.schedule @train {
  smp.rank_schedule 0 {
    // expected-error@+1 {{'arith.constant' op expects to stand outside of a list of actions, got 'smp.rank_schedule'}}
    %c = arith.constant 0 : index
  }
}

// -----

// rank_schedule_c2
smp.schedule @train {
  smp.rank_schedule 0 {
    smp.load "ids" microbatch 0 slot 0 waits []
    // expected-error@+1 {{'smp.load' op expects to wait for actions before it, which is action 1, got 1}}
    smp.load "labels" microbatch 0 slot 0 waits [0, 1]
  }
}

// -----

// rank_schedule_c3
// expected-error@+1 {{'smp.rank_schedule' op expects parent op 'smp.schedule'}}
smp.rank_schedule 0 {
  smp.load "ids" microbatch 0 slot 0 waits []
}

// -----

// rank_schedule_c4
smp.schedule @train {
  // expected-error@+1 {{'smp.rank_schedule' op region should have no arguments}}
  smp.rank_schedule 0 {
  ^bb0(%x: tensor<f32>):
    smp.load "ids" microbatch 0 slot 0 waits []
  }
}

// -----

// launch_c1
func.func @f() { return }
smp.chunk @chunk0 0 on 0 forward @f
func.func @g() { return }
smp.schedule @train {
  smp.rank_schedule 0 {
    // expected-error@+1 {{'smp.launch' op expects a program of chunk 0, got @g}}
    smp.launch @g chunk 0 microbatch 0 slots {} waits []
  }
}

// -----

// launch_c1
func.func @f() { return }
smp.chunk @chunk0 0 on 0 forward @f
smp.schedule @train {
  smp.rank_schedule 0 {
    // expected-error@+1 {{'smp.launch' op expects a program of a rank, got @f}}
    smp.launch @f chunk -1 microbatch 0 slots {} waits []
  }
}

// -----

// launch_c2
func.func @f() { return }
smp.chunk @chunk0 0 on 1 forward @f
smp.schedule @train {
  smp.rank_schedule 0 {
    // expected-error@+1 {{'smp.launch' op expects a program that belongs to rank 0, got one of rank 1}}
    smp.launch @f chunk 0 microbatch 0 slots {} waits []
  }
}

// -----

// launch_c3
func.func @f() { return }
smp.chunk @chunk0 0 on 0 forward @f
smp.schedule @train {
  smp.rank_schedule 0 {
    // expected-error@+1 {{'smp.launch' op expects a microbatch that is not negative, got -1}}
    smp.launch @f chunk 0 microbatch -1 slots {} waits []
  }
}

// -----

// launch_c4
func.func @f() { return }
smp.chunk @chunk0 0 on 0 forward @f
smp.schedule @train {
  smp.rank_schedule 0 {
    // expected-error@+1 {{'smp.launch' op expects a slot of 'stash.c0' that is an integer and not negative, got -1 : i64}}
    smp.launch @f chunk 0 microbatch 0 slots {stash.c0 = -1 : i64} waits []
  }
}

// -----

// launch_c4
func.func @f() { return }
smp.chunk @chunk0 0 on 0 forward @f
smp.schedule @train {
  smp.rank_schedule 0 {
    // expected-error@+1 {{'smp.launch' op expects a slot of 'stash.c0' that is an integer and not negative, got "first"}}
    smp.launch @f chunk 0 microbatch 0 slots {stash.c0 = "first"} waits []
  }
}

// -----

// launch_c5
func.func @f() { return }
smp.chunk @chunk0 0 on 0 forward @f
// expected-error@+1 {{'smp.launch' op expects parent op 'smp.rank_schedule'}}
smp.launch @f chunk 0 microbatch 0 slots {} waits []

// -----

// send_c1
smp.schedule @train {
  smp.rank_schedule 0 {
    // expected-error@+1 {{'smp.send' op expects another one of 1 ranks as peer of rank 0, got 0}}
    smp.send "act" peer 0 microbatch 0 slot 0 waits []
  }
}

// -----

// send_c2
smp.schedule @train {
  smp.rank_schedule 0 {
    // expected-error@+1 {{'smp.send' op expects a slot that is not negative, got -1}}
    smp.send "act" peer 1 microbatch 0 slot -1 waits []
  }
  smp.rank_schedule 1 {
    smp.recv "act" peer 0 microbatch 0 slot 0 waits []
  }
}

// -----

// send_c3
// expected-error@+1 {{'smp.send' op expects parent op 'smp.rank_schedule'}}
smp.send "act" peer 1 microbatch 0 slot 0 waits []

// -----

// recv_c1
smp.schedule @train {
  smp.rank_schedule 0 {
    // expected-error@+1 {{'smp.recv' op expects another one of 1 ranks as peer of rank 0, got 1}}
    smp.recv "act" peer 1 microbatch 0 slot 0 waits []
  }
}

// -----

// recv_c2
smp.schedule @train {
  smp.rank_schedule 0 {
    smp.send "act" peer 1 microbatch 0 slot 0 waits []
  }
  smp.rank_schedule 1 {
    // expected-error@+1 {{'smp.recv' op expects a microbatch that is not negative, got -1}}
    smp.recv "act" peer 0 microbatch -1 slot 0 waits []
  }
}

// -----

// recv_c3
// expected-error@+1 {{'smp.recv' op expects parent op 'smp.rank_schedule'}}
smp.recv "act" peer 0 microbatch 0 slot 0 waits []

// -----

// load_c1
smp.schedule @train {
  smp.rank_schedule 0 {
    // expected-error@+1 {{'smp.load' op expects a slot that is not negative, got -1}}
    smp.load "ids" microbatch 0 slot -1 waits []
  }
}

// -----

// load_c1
smp.schedule @train {
  smp.rank_schedule 0 {
    // expected-error@+1 {{'smp.load' op expects a microbatch that is not negative, got -2}}
    smp.load "ids" microbatch -2 slot 0 waits []
  }
}

// -----

// load_c2
smp.schedule @train {
  // expected-error@+1 {{'smp.load' op expects parent op 'smp.rank_schedule'}}
  smp.load "ids" microbatch 0 slot 0 waits []
}
