# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A run is a function of model, data and seed: not of stages where dropout is
on, of threads, or of the order of ready commands."""

from __future__ import annotations

import itertools

from evidence import Table
from harness import EXHAUSTIVE, IntegrationTest, Reference, Trained, main
from test_layouts import DROPOUT, FACTORS, config_of

ORDERS = 20


class Repeatability(IntegrationTest):
    def rows(self, model: str):
        return Reference.of(model).rows(self.folder)

    def test_dropout_is_the_same_on_any_number_of_stages_and_replicas(self) -> None:
        layouts = [(2, 1), (4, 1), (1, 2)] + ([(3, 1), (2, 2)] if EXHAUSTIVE else [])
        for model in DROPOUT:
            rows = self.rows(model.removesuffix("-dropout"))

            def trained(pp: int, rdp: int) -> Trained:
                return self.train(
                    self.compile(model, config_of(pp, rdp, "interleaved")), rows, 5,
                    f"--ranks={pp * rdp}", "--transport=threads", "--threads=1",
                )  # fmt: skip

            expected = trained(1, 1)
            for pp, rdp in layouts:
                with self.subTest(model=model, pp=pp, rdp=rdp):
                    found = trained(pp, rdp)
                    if rdp == 1:
                        self.assertSame(found, expected)
                    self.assertLosses(found.losses, expected.losses, 1e-5)

    def test_dropout_has_a_seed(self) -> None:
        for model in DROPOUT:
            rows = self.rows(model.removesuffix("-dropout"))
            job = self.compile(model, config_of(1, 1, "interleaved"))
            one, other = (
                self.train(
                    job, rows, 2, f"--seed={seed}", "--transport=threads",
                    "--data-order=file",
                ).losses
                for seed in (7, 8)
            )  # fmt: skip
            self.assertNotEqual(one, other, f"dropout of {model} ignores the seed")

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
        for model in FACTORS["model"]:
            with self.subTest(model=model):
                rows = self.rows(model)
                job = self.compile(model, config_of(2, 1, "interleaved"))
                options = ["--ranks=2", "--transport=threads", "--threads=1"]
                expected = self.train(job, rows, 3, *options)
                poisoned = self.train(job, rows, 3, *options, "--poison")
                self.assertSame(poisoned, expected)


if __name__ == "__main__":
    main()
