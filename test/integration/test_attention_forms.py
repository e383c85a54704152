# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The attention that transformers writes out and the one it calls are the same
IR once masks are symbolic: causal, none, a sliding window, a bias beside. Where
masks come from data the written one stays as it is, and means the same."""

from __future__ import annotations

import sys
from pathlib import Path

from harness import DATA, EXHAUSTIVE, MODELS, IntegrationTest, main, run

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
    "llama-dropout": {("causal", False)},
    "mistral": {("window, 4, 0", False)},
    "bert": {("none", False)},
    "t5": {("none", True), ("causal", True), ("none", False)},
}
# Padding and packing are tensors of the step.
MASKED_BY_DATA = ["bert-padded", "llama-packed", "t5-padded"]


class AttentionForms(IntegrationTest):
    def succeed(self, *command: object) -> None:
        finished = run(*command)
        self.assertEqual(finished.code, 0, f"{command}\n{finished.errors}")

    def imported(self, name: str, form: str) -> Path:
        listed = model_named(name)
        torch.manual_seed(1)
        model = listed.build().train()
        model.set_attn_implementation(form)
        inputs = listed.inputs(2, torch.Generator().manual_seed(0))
        archive, module = self.path(f"{form}.pt2"), self.path(f"{form}.mlir")
        smp.export(
            model, inputs, archive, init={".*": "none"}, convention=listed.convention
        )
        self.succeed("smp-import", archive, "-o", module)
        return module

    def specialized(self, name: str, form: str) -> Path:
        result = self.path(f"{form}-specialized.mlir")
        self.succeed(
            "smp-opt", self.imported(name, form),
            "--smp-specialize=rows=3", "--cse", "-o", result,
        )  # fmt: skip
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

    def test_masks_that_depend_on_data(self) -> None:
        """Against what PyTorch computed of the called form in float64."""
        for name in MASKED_BY_DATA:
            module = self.imported(name, "eager")
            data = DATA / f"{name}.safetensors"
            for rows, compared, *options in (
                ("b2", "f64/train/", "--graph=train"),
                ("b2", "f64/eval/", "--graph=eval"),
                ("b3", "f64/train/", "--graph=train"),
                ("b3", "f64/eval/", "--graph=eval"),
                ("b2", "grad/", "--gradients", "--results-prefix=grad/"),
            ):
                with self.subTest(name, rows=rows, compared=compared):
                    self.succeed(
                        "smp-interpret", module, "--precision=f64", "--tolerance=1e-9",
                        f"--inputs={data}", f"--inputs-prefix={rows}/inputs/",
                        f"--compare={data}", f"--compare-prefix={rows}/{compared}",
                        *options,
                    )  # fmt: skip

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
