# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GPT-2 with 124 million parameters compiles quickly, whatever its depth.

SMP_LARGE_MODELS is the folder that `make_reference.py --large` has filled.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from harness import IntegrationTest, main, run

MODELS = Path(os.environ.get("SMP_LARGE_MODELS", "build/models"))
PARAMETERS = 124_439_808
SECONDS = 30


class Large(IntegrationTest):
    def compile_large(self, name: str, *flags: str) -> tuple[float, int]:
        """Seconds of processor time, and the number of kernels."""
        finished = run(
            "smp-compile", MODELS / f"{name}.pt2", "-o", self.path("job"), *flags
        )
        self.assertEqual(finished.code, 0, finished.errors)
        kernels = re.search(r"(\d+) kernels", finished.errors)
        return finished.cpu_seconds, int(kernels[1])

    def test_compiles_quickly(self) -> None:
        for pp in (1, 2):
            with self.subTest(pp=pp):
                seconds, _ = self.compile_large(
                    "gpt2-124m", f"--pipeline-parallel-degree={pp}", "--batch-size=4"
                )
                print(f"{pp} stages: {seconds:.1f} s of processor time")
                self.assertLess(seconds, SECONDS)

    def test_depth_adds_no_kernels(self) -> None:
        _, twelve = self.compile_large("gpt2-124m", "--batch-size=4")
        _, more = self.compile_large("gpt2-48-layers", "--batch-size=4")
        self.assertEqual(more, twelve)

    def test_counts_parameters(self) -> None:
        module = self.path("gpt2.mlir")
        compiled = run(
            "smp-compile", MODELS / "gpt2-124m.pt2", "--stop-after=specialize",
            "--batch-size=4",
        )  # fmt: skip
        self.assertEqual(compiled.code, 0, compiled.errors)
        module.write_text(compiled.output)
        printed = run("smp-opt", module, "--smp-print-cost", "-o", os.devnull)
        self.assertEqual(printed.code, 0, printed.errors)
        text = (printed.output + printed.errors).replace(",", "")
        self.assertIn(str(PARAMETERS), text)


if __name__ == "__main__":
    main()
