# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of their real size are imported and compiled quickly, in little
memory, whatever their depth and the length of their sequence, and take as
much as planned when they are trained.

SMP_LARGE_MODELS is the folder that make_large.py has filled.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from harness import BIN, main, run
from test_memory import MemoryTest

MODELS = Path(os.environ.get("SMP_LARGE_MODELS", "build/models"))
PARAMETERS = 124_439_808
SECONDS = 30


@dataclass
class Usage:
    seconds: float  # of processor time
    megabytes: float  # at the peak


def usage_of(tool: str, *arguments: object) -> Usage:
    process = subprocess.Popen([BIN / tool, *map(str, arguments)])
    _, status, spent = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise AssertionError(f"{tool} ended with {process.returncode}")
    return Usage(spent.ru_utime + spent.ru_stime, spent.ru_maxrss / 1000)


class Large(MemoryTest):
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

    def test_many_stages_compile_quickly(self) -> None:
        """64 stages and 512 microbatches, beyond the time of 2 stages."""
        seconds = {}
        for pp in (2, 64):
            seconds[pp], _ = self.compile_large(
                "gpt2-48-layers", f"--pipeline-parallel-degree={pp}",
                "--batch-size=512", "--microbatches=512",
            )  # fmt: skip
        print(f"of processor time: {seconds}")
        self.assertLess(seconds[64] - seconds[2], 10)

    def test_takes_the_planned_memory(self) -> None:
        """Most of it parameters and what the optimizer keeps of them."""
        tokens = self.path("tokens.u16")
        tokens.write_bytes(bytes(i % 190 for i in range(32768)))
        self.check(
            MODELS / "gpt2-124m.pt2", tokens, 2, "--pipeline-parallel-degree=2",
            "--batch-size=2", "--microbatches=2",
        )  # fmt: skip

    def test_depth_adds_no_kernels(self) -> None:
        _, twelve = self.compile_large("gpt2-124m", "--batch-size=4")
        _, more = self.compile_large("gpt2-48-layers", "--batch-size=4")
        self.assertEqual(more, twelve)

    def cost_of(self, name: str, rows: int) -> dict:
        module = self.path(f"{name}.mlir")
        imported = run("smp-import", MODELS / f"{name}.pt2", "-o", module)
        self.assertEqual(imported.code, 0, imported.errors)
        printed = run(
            "smp-opt", module, f"--smp-specialize=rows={rows}",
            "--smp-print-cost=format=json", "-o", os.devnull,
        )  # fmt: skip
        self.assertEqual(printed.code, 0, printed.errors)
        return json.loads(printed.output)

    def test_counts_parameters_and_operations(self) -> None:
        rows, length, width, layers = 4, 256, 768, 12
        total = self.cost_of("gpt2-124m", rows)["total"]
        self.assertEqual(total["parameters"], PARAMETERS)
        # Projections and head; scores and weighted values, whole squares.
        products = layers * 12 * width * width + 50257 * width
        expected = 2 * products * rows * length
        expected += layers * 4 * rows * length * length * width
        self.assertLess(abs(total["flops"] - expected), 0.01 * expected)

    def test_imports_quickly(self) -> None:
        for name in ("gpt2-1.5b", "llama-7b"):
            with self.subTest(name):
                module = self.path(f"{name}.mlir")
                usage = usage_of("smp-import", MODELS / f"{name}.pt2", "-o", module)
                print(f"import {name}: {usage}")
                self.assertLess(usage.seconds, 5)
                self.assertLess(usage.megabytes, 500)
                specialized = self.path(f"{name}.mlir")
                usage = usage_of(
                    "smp-opt", module, "--smp-specialize=rows=2", "-o", specialized
                )
                print(f"specialize {name}: {usage}")
                self.assertLess(usage.seconds, 2)
                self.assertLess(usage.megabytes, 500)
                attention = re.findall(r"smp\.attention .*", specialized.read_text())
                self.assertEqual(len(attention), 2 * (48 if "gpt2" in name else 32))
                for op in attention:
                    self.assertIn("<causal>", op)


if __name__ == "__main__":
    main()
