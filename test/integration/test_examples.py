# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The lines of docs/Examples.md, as they are printed, train each model."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from harness import BIN, ENVIRONMENT, MODELS, IntegrationTest, main

ROOT = MODELS.parent.parent
PAGE = ROOT / "docs" / "Examples.md"
# Of the first loss, what is left at the end is less.
LEARNED = {"gpt2": 0.6, "llama": 0.6, "bert": 0.7, "t5": 0.9, "resnet": 0.5, "mlp": 0.5}


def sections() -> dict[str, list[str]]:
    """The commands of each model's section, by the name of its factory."""
    found = {}
    for section in PAGE.read_text().split("\n## ")[1:]:
        lines = [line.strip() for line in section.splitlines() if line.startswith("    ")]
        name = re.search(r"examples\.models:(\w+)", section)[1]
        found[name] = lines
    return found


class Examples(IntegrationTest):
    def execute(self, line: str) -> str:
        environment = ENVIRONMENT | {
            "PATH": f"{BIN}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "python"),
        }
        finished = subprocess.run(
            line, shell=True, cwd=self.folder, env=environment, timeout=300,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        self.assertEqual(finished.returncode, 0, f"{line}\n{finished.stdout}")
        return finished.stdout

    def test_each_model_learns(self) -> None:
        pages = sorted((ROOT / "docs").glob("*.md"))
        text = "".join(page.read_text() for page in pages)
        (self.folder / "text.u8").write_text(text)
        examples = sections()
        self.assertEqual(examples.keys(), LEARNED.keys())
        for name, lines in examples.items():
            with self.subTest(name):
                commands = [line.split()[0] for line in lines[-3:]]
                self.assertEqual(commands, ["python", "smp-compile", "smp-run"])
                output = [self.execute(line) for line in lines][-1]
                first = float(re.search(r"step 1/\d+ +loss (\S+)", output)[1])
                last = float(re.search(r"evaluation loss (\S+)", output)[1])
                self.assertLess(last, LEARNED[name] * first, output)


if __name__ == "__main__":
    main()
