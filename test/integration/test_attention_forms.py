# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The attention that transformers writes out and the one it calls are the same
IR once masks are symbolic: causal, none, a sliding window, a bias beside."""

from __future__ import annotations

import sys
from pathlib import Path

from harness import EXHAUSTIVE, MODELS, IntegrationTest, main, run

sys.path[:0] = [str(MODELS), str(MODELS.parent.parent / "python")]

import torch  # noqa: E402
from models import model_named  # noqa: E402
from structure import structures  # noqa: E402

import smp  # noqa: E402

torch.set_num_threads(1)

# With what each attention must be: `mask` and whether there is a bias.
EXPECTED = {
    "gpt2": {("causal", False)},
    "gpt2-dropout": {("causal", False)},
    "llama": {("causal", False)},
    "mistral": {("window, 4, 0", False)},
    "bert": {("none", False)},
    "t5": {("none", True), ("causal", True), ("none", False)},
}


class AttentionForms(IntegrationTest):
    def specialized(self, name: str, form: str) -> Path:
        listed = model_named(name)
        torch.manual_seed(1)
        model = listed.build().train()
        model.set_attn_implementation(form)
        inputs = listed.inputs(2, torch.Generator().manual_seed(0))
        archive, module = self.path(f"{form}.pt2"), self.path(f"{form}.mlir")
        result = self.path(f"{form}-specialized.mlir")
        smp.export(
            model, inputs, archive, init={".*": "none"}, convention=listed.convention
        )
        for command in (
            ("smp-import", archive, "-o", module),
            ("smp-opt", module, "--smp-specialize=rows=3", "--cse", "-o", result),
        ):
            finished = run(*command)
            self.assertEqual(finished.code, 0, finished.errors)
        return result

    def test_same_structure(self) -> None:
        for name, expected in EXPECTED.items():
            if model_named(name).random and not EXHAUSTIVE:
                continue
            with self.subTest(name):
                called, written = (
                    self.specialized(name, form) for form in ("sdpa", "eager")
                )
                a, b = structures(called), structures(written)
                for graph in ("train", "eval"):
                    self.assertEqual(
                        a[graph].returned,
                        b[graph].returned,
                        a[graph].difference(b[graph]),
                    )
                found = {
                    (line.split("<", 1)[1].split("> scale")[0], " bias " in line)
                    for line in self.attentions(called)
                }
                self.assertEqual(found, expected)

    def attentions(self, module: Path) -> list[str]:
        """The lines, from the mask on the first `<`."""
        lines = []
        for line in module.read_text().splitlines():
            if "smp.attention " in line:
                head, _, tail = line.partition(" scale ")
                bias = " bias " if " bias " in head else ""
                lines.append(f"{bias}<{head.rsplit(' <', 1)[1]} scale {tail}")
        return lines


if __name__ == "__main__":
    main()
