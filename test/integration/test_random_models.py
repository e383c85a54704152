# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random models under random configurations train and evaluate as in PyTorch.

A case follows from its seed. Those of every day are fixed; SMP_TEST_EXHAUSTIVE=1
takes many new ones. A failure says its seed, and SMP_TEST_SEED repeats that case.
"""

from __future__ import annotations

import json
import logging
import os
import random

from harness import EXHAUSTIVE, IntegrationTest, Trained, main, run
from test_optimizers import ROWS  # noqa: F401: finds the folders of what follows

import smp  # isort: skip
import torch  # isort: skip
from random_models import RandomModel  # isort: skip
from random_training import Result, draw_setting, train_torch  # isort: skip
from safetensors.torch import save_file  # isort: skip
from torch.export import Dim  # isort: skip

CASES = 300 if EXHAUSTIVE else 16
FIRST = random.SystemRandom().randrange(10**6) if EXHAUSTIVE else 0
if "SMP_TEST_SEED" in os.environ:
    CASES, FIRST = 1, int(os.environ["SMP_TEST_SEED"])
DIVERGES = 1e3  # a loss


def is_stable(exact: Result, single: Result) -> bool:
    """Whether a case tells what is right from what is rounded: a choice by the
    sign of a number that is almost zero falls one way or the other."""
    pairs = zip([*exact.losses, exact.evaluation], [*single.losses, single.evaluation])
    return all(abs(a) < DIVERGES and abs(a - b) <= 1e-4 * max(abs(a), 0.1) for a, b in pairs)


class RandomModels(IntegrationTest):
    def test_train_and_evaluate_as_in_pytorch(self) -> None:
        logging.disable(logging.WARNING)  # of exports
        for seed in range(FIRST, FIRST + CASES):
            with self.subTest(f"SMP_TEST_SEED={seed} repeats it"):
                self.check(seed)

    def check(self, seed: int) -> None:
        r = random.Random(seed)
        torch.manual_seed(seed)
        model = RandomModel(r).train()
        setting = draw_setting(r, model)
        inputs = model.inputs(setting.epoch, seed + 1, setting.step)
        exact = train_torch(model, inputs, setting, torch.float64)
        single = train_torch(model, inputs, setting, torch.float32)
        if not is_stable(exact, single):
            return
        # Batch norm's averages are part of the evaluation that smp.export adds.
        plain = model.mixing != "norm" and r.random() < 0.3
        archive, weights, data = self.write(model, inputs, plain)
        options = [
            "--steps", setting.steps, f"--init={weights}", "--eval-data", data,
            "--data-order=file", "--transport=threads", f"--threads={r.choice([1, 1, 2])}",
            *(["--poison"] if r.random() < 0.3 else []),
            *([f"--order-seed={seed}"] if r.random() < 0.3 else []),
        ]  # fmt: skip
        got = self.trained(archive, setting.config, setting.owners, data, options)
        if setting.stages > 1 and r.random() < 0.3:
            kept = {
                name: value for name, value in setting.config.items()
                if name not in ("auto_partition", "contiguous", "default_partition", "assignment")
            }  # fmt: skip
            whole = kept | {"pipeline_parallel_degree": 1, "pipeline": "simple"}
            self.assertSame(self.trained(archive, whole, setting.owners, data, options), got)
        self.assertNear(got.losses, exact.losses, single.losses, 1e-5, "loss")
        self.assertNear(
            got.evaluations, [exact.evaluation], [single.evaluation], 2e-4, "evaluation"
        )
        self.assertTrained(model, got, exact.parameters, single.parameters)

    def write(self, model, inputs: dict, plain: bool):
        archive, weights = self.path("model.pt2"), self.path("weights.safetensors")
        data, example = self.path("data.safetensors"), model.inputs(2, 0, 2)
        if plain:
            shapes = {name: {0: Dim("batch", min=1)} for name in example}
            program = torch.export.export(model, (), example, dynamic_shapes=shapes)
            torch.export.save(program, str(archive))
            archive = self.imported(archive)
        else:
            smp.export(model, example, archive, init={".*": "none"}, convention="none")
        parameters = model.named_parameters()
        save_file({n: p.detach().clone().contiguous() for n, p in parameters}, weights)
        save_file({n: value.contiguous() for n, value in inputs.items()}, data)
        return archive, weights, data

    def imported(self, archive):
        module = self.path("model.mlir")
        finished = run("smp-import", archive, "-o", module, "--data-convention=none")
        self.assertEqual(finished.code, 0, finished.errors)
        return module

    def trained(self, archive, config: dict, owners: int, data, options: list) -> Trained:
        job, settings = self.path("job"), self.path("smp.json")
        settings.write_text(json.dumps(config))
        compiled = run("smp-compile", archive, "-o", job, "--config", settings, "--quiet")
        self.assertEqual(compiled.code, 0, f"{config}\n{compiled.errors}")
        ranks = config["pipeline_parallel_degree"] * owners
        return self.train(job, data, options[1], *options[2:], "--ranks", ranks)

    def assertNear(self, got, exact, single, tolerance: float, what: str) -> None:
        """As near to exact arithmetic as a tolerance, or as PyTorch in float32."""
        self.assertEqual(len(got), len(exact), what)
        for step, (ours, value, theirs) in enumerate(zip(got, exact, single)):
            bound = tolerance * max(abs(value), 0.1) + 5 * abs(theirs - value)
            self.assertLessEqual(abs(ours - value), bound, f"{what} {step}: {ours}, not {value}")

    def assertTrained(self, model, got: Trained, exact: dict, single: dict) -> None:
        """Parameter by parameter; a job has those that it uses."""
        names = dict(model.named_parameters(remove_duplicate=False))
        for name, end in exact.items():
            start = names[name].detach()
            found = [n for n, p in names.items() if p is names[name] and n in got.parameters]
            if not found:
                self.assertTrue(torch.equal(end.float(), start), f"'{name}' is not in the job")
                continue
            data = bytearray(got.parameters[found[0]].data)
            ours = torch.frombuffer(data, dtype=torch.float32).view(end.shape)
            error, noise, moved = (
                (a - b).norm().item() for a, b in ((ours, end), (single[name], end), (end, start))
            )
            if noise > 0.02 * moved:
                continue
            bound = 1e-3 * moved + 1e-6 * end.norm().item() + 10 * noise
            self.assertLessEqual(error, bound, f"'{name}', which moved by {moved}")


if __name__ == "__main__":
    main()
