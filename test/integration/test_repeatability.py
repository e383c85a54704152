# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A run is a function of model, data and seed: not of stages where dropout is
on, of an interruption, of threads, or of the order of ready commands."""

from __future__ import annotations

import itertools

from evidence import Table
from harness import EXHAUSTIVE, IntegrationTest, Reference, Trained, main, run
from test_layouts import config_of

ORDERS = 20


class Repeatability(IntegrationTest):
    def rows(self, model: str):
        return Reference.of(model).rows(self.folder)

    def test_dropout_is_the_same_on_any_number_of_stages(self) -> None:
        for model in ("gpt2", "bert", "t5"):
            rows = self.rows(model)  # the same inputs
            runs: dict[int, Trained] = {}
            for pp in (1, 2, 4):
                config = config_of(pp, 1, "interleaved")
                runs[pp] = self.train(
                    self.compile(f"{model}-dropout", config), rows, 5,
                    f"--ranks={pp}", "--transport=threads", "--threads=1",
                )  # fmt: skip
            for pp in (2, 4):
                with self.subTest(model=model, pp=pp):
                    self.assertSame(runs[pp], runs[1])

    def test_dropout_has_a_seed(self) -> None:
        rows = self.rows("gpt2")
        job = self.compile("gpt2-dropout", config_of(1, 1, "interleaved"))
        other = self.train(
            job, rows, 5, "--seed=7", "--transport=threads", "--data-order=file"
        )
        same = self.train(
            job, rows, 5, "--seed=8", "--transport=threads", "--data-order=file"
        )
        self.assertNotEqual(other.losses, same.losses, "dropout ignores the seed")

    def resumes(self, model: str, config: dict, *options: object) -> None:
        rows = self.rows(model.removesuffix("-dropout"))
        job = self.compile(model, config)
        whole = self.train(job, rows, 10, *options)
        self.assertEqual(len(whole.losses), 10)
        saved = f"--checkpoint-dir={self.path('checkpoints')}"
        first = self.train(job, rows, 5, saved, *options)
        rest = self.train(job, rows, 10, saved, "--resume", *options)
        self.assertEqual(first.losses, whole.losses[:5])
        self.assertSame(Trained(first.losses + rest.losses, rest.parameters), whole)

    def test_resume_of_stages_and_replicas(self) -> None:
        self.resumes("gpt2", config_of(2, 2, "1f1b"), "--ranks=4", "--transport=threads")

    def test_resume_with_dropout_under_mpi(self) -> None:
        self.resumes("gpt2-dropout", config_of(2, 1, "interleaved"), "--ranks=2")

    def test_resume_of_momentum(self) -> None:
        config = config_of(1, 1, "simple")
        config["optimizer"] = {"name": "sgd", "lr": 0.05, "momentum": 0.9}
        self.resumes("mlp", config, "--transport=threads")

    def test_resume_of_running_averages(self) -> None:
        config = config_of(2, 2, "1f1b")
        self.resumes("resnet", config, "--ranks=4", "--transport=threads")

    def test_resume_asks_for_the_seed_of_the_checkpoint(self) -> None:
        job = self.compile("mlp", config_of(1, 1, "simple"))
        rows = self.rows("mlp")
        saved = f"--checkpoint-dir={self.path('checkpoints')}"
        self.train(job, rows, 1, saved)
        finished = run(
            "smp-run", job, "--data", rows, "--steps=2", saved, "--resume", "--seed=9"
        )
        self.assertEqual(finished.code, 1)
        self.assertIn("expects the seed of the checkpoint, 0, got 9", finished.errors)

    def test_any_order_of_ready_commands(self) -> None:
        table = Table(
            "orders",
            "Any order of ready commands gives the same bits",
            ["model", "stages", "schedule", "threads", "seeded orders", "the same bits"],
        )  # fmt: skip
        self.addCleanup(table.write)
        models = ["gpt2", "bert", "llama", "mlp"] if EXHAUSTIVE else ["gpt2"]
        stages = [1, 2, 4] if EXHAUSTIVE else [2]
        for model, pp, threads in itertools.product(models, stages, (1, 2)):
            rows = self.rows(model)
            job = self.compile(model, config_of(pp, 1, "1f1b"))
            options = [f"--ranks={pp}", "--transport=threads"]
            expected = self.train(job, rows, 2, *options, "--threads=1")
            same = 0
            for seed in range(ORDERS):
                with self.subTest(model=model, pp=pp, seed=seed, threads=threads):
                    trained = self.train(
                        job, rows, 2, *options,
                        f"--threads={threads}", f"--order-seed={seed}",
                    )  # fmt: skip
                    self.assertSame(trained, expected)
                    same += 1
            table.add(model, pp, "1f1b", threads, ORDERS, same)

    def test_any_order_of_convolutions(self) -> None:
        rows = self.rows("resnet")
        job = self.compile("resnet", config_of(1, 1, "simple"))
        options = ["--transport=threads"]
        expected = self.train(job, rows, 2, *options, "--threads=1")
        for seed in range(3):
            for threads in (1, 2):
                with self.subTest(seed=seed, threads=threads):
                    trained = self.train(
                        job, rows, 2, *options,
                        f"--threads={threads}", f"--order-seed={seed}",
                    )  # fmt: skip
                    self.assertSame(trained, expected)

    def test_poison_changes_nothing(self) -> None:
        for model in ("gpt2", "mlp", "llama", "resnet"):
            with self.subTest(model=model):
                rows = self.rows(model)
                job = self.compile(model, config_of(2, 1, "interleaved"))
                options = ["--ranks=2", "--transport=threads", "--threads=1"]
                expected = self.train(job, rows, 3, *options)
                poisoned = self.train(job, rows, 3, *options, "--poison")
                self.assertSame(poisoned, expected)


if __name__ == "__main__":
    main()
