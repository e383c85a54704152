# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stages and schedules change no bit, not of running averages either; replicas
only the order of sums.

Each case is a model, a layout (stages, replicas), a schedule, and how it is
executed. By default a seeded choice of cases covers each pair of values of
each two of them; SMP_TEST_EXHAUSTIVE=1 takes all models, layouts, schedules.
"""

from __future__ import annotations

import itertools
import json
import math
import random

from evidence import Table
from harness import (
    DATA,
    EXHAUSTIVE,
    IntegrationTest,
    Reference,
    Trained,
    first_rows,
    largest,
    largest_difference,
    main,
    read_safetensors,
    run,
    write_safetensors,
)

STEPS = 4
CLIPPING = 0.4  # of the norm, which each model exceeds at a step
SAMPLES = 8  # of a step, over all replicas
FACTORS = {
    "model": ["gpt2", "llama", "bert", "t5", "resnet", "mlp"],
    "layout": [(1, 1), (2, 1), (1, 2), (2, 2), (4, 1), (3, 1)],
    "schedule": ["simple", "1f1b", "interleaved"],
    "transport": ["threads", "threads", "mpi"],
    "poison": [False, True],
}
# Statistics are those of a microbatch: one replica has the losses of several
# where it has their microbatches; running averages are of the replicas.
BATCH_NORM = ["resnet"]
# Those of them that have dropout, with it.
DROPOUT = ["gpt2-dropout", "llama-dropout", "bert-dropout", "t5-dropout"]
# Rank 0 has the first and the last part of the model.
MANUAL = {
    "gpt2": {"transformer.h.0": 0, "transformer.h.1": 1, "transformer.ln_f": 0},
    "mlp": {"0": 0, "2": 1, "3": 1, "5": 0},
}


def pairs_of(case: tuple) -> set:
    return set(itertools.combinations(enumerate(case), 2))


def pairwise(factors: dict, seed: int) -> list[dict]:
    """A small set of cases with each pair of values of each two factors."""
    values = [list(dict.fromkeys(choice)) for choice in factors.values()]
    everything = list(itertools.product(*values))
    random.Random(seed).shuffle(everything)
    missing = set().union(*map(pairs_of, everything))
    chosen = []
    while missing:
        best = max(everything, key=lambda case: len(pairs_of(case) & missing))
        missing -= pairs_of(best)
        chosen.append(dict(zip(factors, best)))
    return chosen


def all_cases(factors: dict, seed: int) -> list[dict]:
    """Every model, layout and schedule; of the rest a seeded choice."""
    first = ("model", "layout", "schedule")
    draw = random.Random(seed)
    return [
        dict(zip(first, case))
        | {n: draw.choice(v) for n, v in factors.items() if n not in first}
        for case in itertools.product(*(factors[name] for name in first))
    ]


def config_of(pp: int, rdp: int, schedule: str) -> dict:
    return {
        "pipeline_parallel_degree": pp,
        "pipeline": schedule,
        "microbatches": 4,
        "batch_size": SAMPLES // rdp,
        "optimizer": {"name": "adamw", "lr": 1e-3},
        "lr_schedule": {"name": "cosine", "warmup_steps": 2, "total_steps": 8},
        "gradient_clipping": CLIPPING,
    }


class Layouts(IntegrationTest):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.references: dict[tuple, Trained] = {}
        cls.beginnings: dict[str, dict] = {}

    def reference(self, model: str, rdp: int = 1, microbatches: int = 4) -> Trained:
        """The run of one stage."""
        key = model, rdp, microbatches
        if key not in self.references:
            config = config_of(1, rdp, "simple") | {"microbatches": microbatches}
            job = self.compile(model, config)
            trained = self.execute(model, job, rdp, "--transport=threads")
            self.assertEqual(len(trained.losses), STEPS)
            self.assertEqual(len(set(trained.losses)), STEPS)
            self.assertGreater(max(trained.norms), CLIPPING, "no step was clipped")
            self.references[key] = trained
        return self.references[key]

    def beginning(self, model: str) -> dict:
        if model not in self.beginnings:
            job = self.compile(model, config_of(1, 1, "simple"))
            self.beginnings[model] = self.initial(job)
        return self.beginnings[model]

    def execute(self, model: str, job, ranks: int, *options: object) -> Trained:
        data = Reference.of(model).rows(self.folder)
        return self.train(
            job, data, STEPS, f"--ranks={ranks}", "--threads=1", *options
        )

    def check(self, model, layout, schedule, transport, poison) -> None:
        pp, rdp = layout
        job = self.compile(model, config_of(pp, rdp, schedule))
        options = [f"--transport={transport}"] + (["--poison"] if poison else [])
        trained = self.execute(model, job, pp * rdp, *options)
        self.assertSame(trained, self.reference(model, rdp))
        if rdp > 1 and model in BATCH_NORM:
            expected = self.reference(model, microbatches=4 * rdp)
            self.assertLosses(trained.losses, expected.losses, 1e-5)
        elif rdp > 1:
            expected = self.reference(model)
            self.assertLosses(trained.losses, expected.losses, 1e-5)
            self.assertTrainedAlike(
                trained.parameters, expected.parameters, self.beginning(model)
            )

    def test_matrix(self) -> None:
        cases = (all_cases if EXHAUSTIVE else pairwise)(FACTORS, seed=3)
        print(f"{len(cases)} cases")
        table = Table(
            "layouts",
            "Every layout trains to the bits of one stage, and as one replica",
            ["model", "stages", "replicas", "schedule", "transport", "poison", "expected", "seen"],
        )  # fmt: skip
        self.addCleanup(table.write)
        for case in cases:
            seen = "failed"
            with self.subTest(**case):
                self.check(**case)
                seen = "passed"
            pp, rdp = case["layout"]
            contract = "losses" if case["model"] in BATCH_NORM else "contract"
            expected = "bits" if rdp == 1 else f"bits, {contract} of one replica"
            poison = "yes" if case["poison"] else "no"
            table.add(
                case["model"], pp, rdp, case["schedule"], case["transport"], poison,
                expected, seen,
            )  # fmt: skip

    def test_accumulation(self) -> None:
        """A step of two batches is one of their microbatches."""
        expected = self.reference("gpt2")
        for pp, schedule in ((1, "simple"), (2, "1f1b"), (2, "simple"), (4, "interleaved")):
            with self.subTest(pp=pp, schedule=schedule):
                config = config_of(pp, 1, schedule) | {
                    "gradient_accumulation": 2,
                    "microbatches": 2,
                    "batch_size": SAMPLES // 2,
                }
                job = self.compile("gpt2", config)
                self.assertSame(
                    self.execute("gpt2", job, pp, "--transport=threads"), expected
                )

    def test_batch_norm_of_replicas(self) -> None:
        """As the interpreter has them. By SGD: AdamW makes whole steps of the
        rounding noise of gradients that are nearly zero."""
        config = config_of(1, 2, "simple") | {"optimizer": {"name": "sgd", "lr": 0.05}}
        job = self.compile("resnet", config)
        trained = self.execute(
            "resnet", job, 2, "--transport=threads", "--data-order=file"
        )
        model, settings = self.path("resnet.mlir"), self.path("config.json")
        settings.write_text(json.dumps(config))
        rows, results = self.path("rows.safetensors"), self.path("end.safetensors")
        write_safetensors(
            rows,
            {
                name: first_rows(tensor, STEPS * SAMPLES)
                for name, tensor in Reference.of("resnet").below("steps/inputs/").items()
            },
        )
        for command in (
            ("smp-import", DATA / "resnet.pt2", "-o", model),
            ("smp-interpret", model, "--inputs", rows, f"--steps={STEPS}", "--ranks=2",
             "--config", settings, "-o", results),
        ):  # fmt: skip
            finished = run(*command)
            self.assertEqual(finished.code, 0, finished.errors)
        interpreted, _ = read_safetensors(results)
        self.assertLosses(trained.losses, list(interpreted["losses"].values()), 1e-5)
        names = [name for name in interpreted if name.startswith("states/")]
        self.assertGreater(len(names), 0)
        for name in names:
            got = trained.parameters[name.removeprefix("states/")]
            error = largest_difference(got, interpreted[name])
            scale = largest(interpreted[name])
            # A mean is as exact as what it is the mean of.
            if name.endswith("running_mean"):
                variance = interpreted[name.replace("running_mean", "running_var")]
                scale = max(scale, math.sqrt(largest(variance)))
            self.assertLessEqual(error, 1e-5 * scale, name)

    def test_layout_strings(self) -> None:
        expected = self.reference("gpt2")
        for pp, layout in ((1, "EttL"), (2, "Et|tL"), (2, "E|t|t|L"), (4, "E|(t|)*2L")):
            with self.subTest(pp=pp, layout=layout):
                config = config_of(pp, 1, "1f1b") | {"pipeline_layout": layout}
                job = self.compile("gpt2", config)
                self.assertSame(
                    self.execute("gpt2", job, pp, "--transport=threads"), expected
                )

    def test_rank_visited_twice(self) -> None:
        for model, assignment in MANUAL.items():
            for schedule in FACTORS["schedule"] if EXHAUSTIVE else ["interleaved"]:
                with self.subTest(model=model, schedule=schedule):
                    config = config_of(2, 1, schedule) | {
                        "auto_partition": False,
                        "assignment": assignment,
                        "default_partition": 0,
                        "contiguous": False,
                    }
                    job = self.compile(model, config)
                    trained = self.execute(model, job, 2, "--transport=threads")
                    self.assertSame(trained, self.reference(model))


if __name__ == "__main__":
    main()
