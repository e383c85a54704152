// RUN: smp-opt %s -verify-diagnostics -split-input-file

// A mask of no kind that there is does not parse.

// expected-error@+1 {{expects none, causal, window or prefix, got 'diagonal'}}
func.func private @unknown_mask() attributes { test.mask = #smp.mask<diagonal> }
