# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the interpreter says an op means is what PyTorch says."""

from __future__ import annotations

import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import attending  # noqa: E402
import elementwise  # noqa: E402
import images  # noqa: E402
import indexing  # noqa: E402
import moves  # noqa: E402
import optimizers  # noqa: E402
import sums  # noqa: E402
from cases import Draw, OperatorTest, seeds  # noqa: E402
from harness import main  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
FAMILIES = [
    family
    for file in (elementwise, moves, sums, images, attending, indexing, optimizers)
    for family in file.FAMILIES
]
LOWERED = "made by `lower` of ops that are compared here; test/Lowering compares both"
COLLECTIVE = "what several ranks do together"
PROGRAM = "what a program, schedule or model consists of; it computes nothing"
# The ops of the dialect that PyTorch has no counterpart of.
NOT_COMPARED = {
    "product": LOWERED,
    "convolution": LOWERED,
    "attention_softmax": LOWERED,
    "attention_softmax_grad": LOWERED,
    "cross_entropy_rows": LOWERED,
    "cluster": LOWERED,
    "yield": LOWERED,
    "reshard": COLLECTIVE,
    "all_reduce": COLLECTIVE,
    "broadcast": COLLECTIVE,
    "axis_index": COLLECTIVE,
    "parameter": PROGRAM,
    "state": PROGRAM,
    "get_parameter": PROGRAM,
    "get_state": PROGRAM,
    "chunk": PROGRAM,
    "rank": PROGRAM,
    "schedule": PROGRAM,
    "rank_schedule": PROGRAM,
    "launch": PROGRAM,
    "send": PROGRAM,
    "recv": PROGRAM,
    "load": PROGRAM,
    "step_value": "a number that the runtime sets",
    "dropout": "draws other numbers than PyTorch does; test_dropout.py",
}


class Operators(OperatorTest):
    def test_values(self) -> None:
        compared = 0
        for family in FAMILIES:
            for seed in seeds(4, 60):
                with self.subTest(family.__name__, seed=seed):
                    cases = list(family(Draw(seed)))
                    compared += len(cases)
                    self.check(cases)
        print(f"{compared} cases compared with PyTorch", file=sys.stderr)


class Completeness(unittest.TestCase):
    def test_every_op_is_compared_or_listed(self) -> None:
        texts = [path.read_text() for path in (ROOT / "include/smp/IR").glob("*.td")]
        ops = {op for text in texts for op in re.findall(r'def Smp_\w+Op : Smp_\w+<"(\w+)"', text)}
        defined = sum(len(re.findall(r"^def Smp_\w*Op\b", text, re.M)) for text in texts)
        self.assertEqual(len(ops), defined)
        compared = {
            op for family in FAMILIES for case in family(Draw(0)) for op in case.ops()
        }
        self.assertEqual(compared & NOT_COMPARED.keys(), set())
        self.assertEqual(compared | NOT_COMPARED.keys(), ops)


if __name__ == "__main__":
    main()
