# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A run that was interrupted goes on bit for bit, from any layout; one whose
replicas, batch or accumulation change neither repeats nor skips a sample."""

from __future__ import annotations

import json
from pathlib import Path

from evidence import Table
from harness import (
    EXHAUSTIVE,
    IntegrationTest,
    Reference,
    Trained,
    first_rows,
    main,
    run,
    write_safetensors,
)
from test_layouts import (
    BATCH_NORM,
    DROPOUT,
    FACTORS,
    SAMPLES,
    all_cases,
    config_of,
    pairwise,
)

# No multiple of a step's samples: epochs end in a step of 5, which models with
# batch norm leave out.
ROWS = 21
STEPS = 8
# Within an epoch, with samples consumed that were padded or left out.
STOPPED = 5
# Of each kind of state and randomness one, where not all are taken.
SOME = ["gpt2-dropout", "t5-dropout", "resnet", "mlp"]
CASES = {
    "model": FACTORS["model"] + DROPOUT if EXHAUSTIVE else SOME,
    "layout": FACTORS["layout"],
    "schedule": FACTORS["schedule"],
    "accumulation": [1, 2],
    "transport": FACTORS["transport"],
}


class Resume(IntegrationTest):
    def rows(self, model: str) -> Path:
        path = self.folder / f"{model}-rows.safetensors"
        if not path.exists():
            of = Reference.of(model.removesuffix("-dropout"))
            inputs = of.below("steps/inputs/").items()
            write_safetensors(path, {n: first_rows(t, ROWS) for n, t in inputs})
        return path

    def progress(self, saved: Path) -> dict:
        tag = json.loads((saved / "newest").read_text())["partial"]
        manifest = saved / f"{tag}_partial" / "manifest.json"
        return json.loads(manifest.read_text())["progress"]

    def resumes(self, model: str, config: dict, *options: object) -> None:
        rows, job = self.rows(model), self.compile(model, config)
        options = ("--threads=1", *options)
        whole = self.train(job, rows, STEPS, *options)
        self.assertEqual(len(set(whole.losses)), STEPS)
        saved = self.path("checkpoints")
        keep = f"--checkpoint-dir={saved}"
        first = self.train(job, rows, STOPPED, keep, *options)
        consumed = 2 * ROWS + 8 if config.get("drop_last") else ROWS + 16
        self.assertEqual(self.progress(saved)["samples"], consumed)
        rest = self.train(job, rows, STEPS, keep, "--resume", *options)
        self.assertEqual(first.losses, whole.losses[:STOPPED])
        self.assertSame(Trained(first.losses + rest.losses, rest.parameters), whole)

    def check(self, model, layout, schedule, accumulation, transport) -> None:
        pp, rdp = layout
        config = config_of(pp, rdp, schedule) | {
            "gradient_accumulation": accumulation,
            "microbatches": 4 // accumulation,
            "batch_size": SAMPLES // rdp // accumulation,
            "drop_last": model in BATCH_NORM,
        }
        self.resumes(
            model, config, f"--ranks={pp * rdp}", f"--transport={transport}"
        )

    def test_matrix(self) -> None:
        cases = (all_cases if EXHAUSTIVE else pairwise)(CASES, seed=11)
        print(f"{len(cases)} cases")
        table = Table(
            "resume",
            "A run resumed within an epoch has the bits of one that went on",
            ["model", "stages", "replicas", "schedule", "accumulation", "transport", "seen"],
        )  # fmt: skip
        self.addCleanup(table.write)
        for case in cases:
            seen = "failed"
            with self.subTest(**case):
                self.check(**case)
                seen = "the same bits"
            pp, rdp = case["layout"]
            table.add(
                case["model"], pp, rdp, case["schedule"], case["accumulation"],
                case["transport"], seen,
            )  # fmt: skip

    def test_momentum(self) -> None:
        config = config_of(1, 1, "simple")
        config["optimizer"] = {"name": "sgd", "lr": 0.05, "momentum": 0.9}
        self.resumes("mlp", config, "--transport=threads")

    def test_another_number_of_replicas(self) -> None:
        """As far as replicas agree; dropout is that of the samples."""
        model = "gpt2-dropout"
        rows = self.rows(model)
        jobs = {n: self.compile(model, config_of(2, n, "1f1b")) for n in (1, 2)}
        options = ("--transport=threads", "--threads=1")
        whole = self.train(jobs[1], rows, STEPS, "--ranks=2", *options)
        for before, after in ((1, 2), (2, 1)):
            with self.subTest(before=before, after=after):
                keep = f"--checkpoint-dir={self.path('checkpoints')}"
                first = self.train(
                    jobs[before], rows, STOPPED, f"--ranks={2 * before}", keep, *options
                )
                rest = self.train(
                    jobs[after], rows, STEPS, f"--ranks={2 * after}", keep, "--resume",
                    *options,
                )  # fmt: skip
                self.assertLosses(first.losses + rest.losses, whole.losses, 1e-5)
                self.assertTrainedAlike(
                    rest.parameters, whole.parameters, self.initial(jobs[1])
                )

    def test_no_sample_is_repeated_or_skipped(self) -> None:
        """The loss of a step tells its samples where nothing is learned."""
        rows = self.rows("mlp")

        def job(batch: int, microbatches: int, accumulation: int) -> Path:
            config = {
                "batch_size": batch,
                "microbatches": microbatches,
                "gradient_accumulation": accumulation,
                "optimizer": {"name": "sgd", "lr": 1e-30},
            }
            return self.compile("mlp", config)

        options = ("--transport=threads", "--threads=1")
        order = self.train(job(1, 1, 1), rows, 3 * ROWS, *options).losses
        self.assertEqual(len(set(order)), ROWS)
        for epoch in range(3):
            seen = order[epoch * ROWS : (epoch + 1) * ROWS]
            self.assertEqual(len(set(seen)), ROWS)
        keep = f"--checkpoint-dir={self.path('checkpoints')}"
        samples = steps = 0
        for batch, microbatches, accumulation, replicas in (
            (8, 4, 1, 1), (3, 1, 1, 2), (2, 2, 2, 1), (5, 1, 1, 1), (2, 1, 2, 2)
        ):  # fmt: skip
            resume = ["--resume"] if steps else ["--init=reference"]
            trained = self.train(
                job(batch, microbatches, accumulation), rows, steps + 2,
                f"--ranks={replicas}", keep, *resume, *options,
            )  # fmt: skip
            expected = []
            for _ in range(2):
                end = samples + replicas * accumulation * batch
                end = min(end, (samples // ROWS + 1) * ROWS)
                expected.append(sum(order[samples:end]) / (end - samples))
                samples, steps = end, steps + 1
            with self.subTest(batch=batch, accumulation=accumulation, replicas=replicas):
                self.assertLosses(trained.losses, expected, 1e-6)
        self.assertGreater(samples, 2 * ROWS)

    def test_asks_for_the_seed_of_the_checkpoint(self) -> None:
        job, rows = self.compile("mlp", config_of(1, 1, "simple")), self.rows("mlp")
        saved = f"--checkpoint-dir={self.path('checkpoints')}"
        self.train(job, rows, 1, saved)
        finished = run(
            "smp-run", job, "--data", rows, "--steps=2", saved, "--resume", "--seed=9"
        )
        self.assertEqual(finished.code, 1)
        self.assertIn("expects the seed of the checkpoint, 0, got 9", finished.errors)


if __name__ == "__main__":
    main()
