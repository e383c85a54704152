// The passes are to be found in the help of smp-opt; what LLVM brings is not.
// RUN: smp-opt --help | FileCheck %s
// CHECK-NOT: {{--polly|--aarch64|--mir2vec}}
// CHECK: --smp-print-cost
// CHECK-NOT: {{--polly|--aarch64|--mir2vec}}
// RUN: smp-opt --help-hidden | FileCheck %s --check-prefix=HIDDEN
// HIDDEN: --smp-print-cost
