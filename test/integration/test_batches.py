# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The last batch of an epoch, evaluation of every sample once, and steps whose
gradients are no numbers, against PyTorch, for each way to cut the batch."""

from __future__ import annotations

import itertools

from batches import (
    CLIPPING,
    EPOCH,
    LAYOUTS,
    MEETINGS,
    ROWS,
    STEPS,
    Averaged,
    BatchesTest,
    Contrast,
    TimeFirst,
    batches,
    loss_of,
    meeting,
    train_torch,
)
from harness import (
    EXHAUSTIVE,
    Reference,
    Tensor,
    Trained,
    main,
    read_metrics,
    read_safetensors,
    run,
    write_safetensors,
)
from test_optimizers import Tagger, loss_of as loss_of_parts

import torch  # isort: skip
from variants import LOSSES, Balanced, Likelihood, Penalties, Placed, SeveralLosses, loss_of as kind_of_loss  # isort: skip


class LastBatch(BatchesTest):
    def check(
        self, kind, pp: int, owners: int, pieces: int, epoch: int, loss=None, **config
    ) -> None:
        model, archive, weights = self.exported(kind)
        inputs = kind.inputs(epoch)
        config = {"gradient_clipping": CLIPPING} | config
        job = self.compile_archive(archive, pp, owners, pieces, **config)
        trained = self.train(
            job, self.save(inputs), STEPS, f"--init={weights}", "--data-order=file",
            "--transport=threads", "--threads=1", "--ranks", pp * owners,
        )  # fmt: skip
        kept = epoch - epoch % ROWS if config.get("drop_last") else epoch
        parts = pieces * config.get("gradient_accumulation", 1)
        losses, parameters = train_torch(
            model, inputs, batches(kept), loss or self.loss(config, owners, parts)
        )
        self.assertLosses(trained.losses, losses, 1e-5)
        for name, expected in parameters.items():
            got = torch.frombuffer(
                bytearray(trained.parameters[name].data), dtype=torch.float32
            ).view(expected.shape)
            moved = (expected.detach() - model.get_parameter(name)).abs().max()
            self.assertLessEqual((got - expected).abs().max(), 1e-3 * moved, name)

    @staticmethod
    def loss(config: dict, owners: int, parts: int):
        """Of a step, each owner's rows in so many parts."""
        normalization = config.get("loss_normalization", "step")
        if normalization == "step":
            return loss_of
        return lambda model, inputs: loss_of_parts(
            model, inputs, normalization, owners * parts, owners
        )

    def exported(self, kind):
        if kind not in self.models:
            self.models[kind] = self.export(kind)
        return self.models[kind]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.models: dict = {}

    def test_has_the_rows_that_remain(self) -> None:
        """Some microbatches of it are ragged, some have no row at all."""
        kinds = (Tagger, Averaged)
        layouts = LAYOUTS if EXHAUSTIVE else LAYOUTS[::2]
        for kind, (pp, owners, pieces) in itertools.product(kinds, layouts):
            with self.subTest(kind.__name__, pp=pp, owners=owners, pieces=pieces):
                self.check(kind, pp, owners, pieces, EPOCH)

    def test_of_accumulated_batches(self) -> None:
        """The padding may be a whole batch of them."""
        for normalization in ("step", "microbatch", "sum"):
            for owners, pieces in ((1, 2), (2, 1), (2, 2)):
                config = {
                    "gradient_accumulation": 2,
                    "batch_size": ROWS // owners // 2,
                    "loss_normalization": normalization,
                }
                with self.subTest(owners=owners, pieces=pieces, **config):
                    self.check(Tagger, 2, owners, pieces, EPOCH, **config)

    def test_of_losses_with_several_terms(self) -> None:
        for kind in (SeveralLosses, Likelihood, Balanced, Penalties, TimeFirst, Placed):
            with self.subTest(kind.__name__):
                self.check(kind, 2, 2, 2, EPOCH)

    def test_of_fewer_samples_than_a_step(self) -> None:
        self.check(Tagger, 2, 2, 2, 5)
        metrics = max(self.folder.glob("*run.jsonl"), key=lambda p: p.stat().st_mtime)
        first = read_metrics(metrics)[0]
        # Rows that are padding are no work done; the others have 5 tokens each.
        tokens = first["tokens_per_second"] * first["seconds"]
        self.assertAlmostEqual(tokens, 5 * 5, delta=0.01)

    def test_is_left_out(self) -> None:
        for kind in (Tagger, Averaged):
            with self.subTest(kind.__name__):
                self.check(kind, 2, 2, 2, EPOCH, drop_last=True)

    def test_that_is_left_out_leaves_something(self) -> None:
        _, archive, weights = self.exported(Tagger)
        job = self.compile_archive(archive, 1, 1, 1, drop_last=True)
        finished = run(
            "smp-run", job, "--data", self.save(Tagger.inputs(5)), "--steps=1",
            f"--init={weights}", "--transport=threads",
        )  # fmt: skip
        self.assertEqual(finished.code, 1)
        self.assertIn(
            "expects at least 8 samples, one batch, as 'drop_last' leaves out "
            "smaller ones, got 5",
            finished.errors,
        )

    def test_of_other_losses(self) -> None:
        """And all samples are evaluated once."""
        names = list(LOSSES) if EXHAUSTIVE else list(LOSSES)[::2]
        named = ["sum by batch", "sum beside its mean", "each row", "balanced classes"]
        for name in dict.fromkeys([*names, *named]):
            with self.subTest(name):
                kind = kind_of_loss(LOSSES[name])
                self.check(kind, 2, 1, 2, EPOCH)
                self.check_evaluation(kind, [(1, 2, 2)], 13)

    def test_of_rows_that_meet(self) -> None:
        """Whole batches train as in PyTorch, where they are cut as microbatches
        by themselves; one with padded rows is refused."""

        def by_halves(model, inputs: dict):
            halves = [{n: v.chunk(2)[i] for n, v in inputs.items()} for i in (0, 1)]
            return sum(loss_of(model, half) for half in halves) / 2

        for name, form in MEETINGS.items():
            with self.subTest(name):
                kind = meeting(form)
                self.check(kind, 1, 1, 1, 2 * ROWS)
                self.check(kind, 1, 1, 2, 2 * ROWS, loss=by_halves)
                _, archive, weights = self.exported(kind)
                finished = run(
                    "smp-run", self.compile_archive(archive, 1, 1, 1), "--steps=1",
                    "--data", self.save(kind.inputs(EPOCH)), f"--init={weights}",
                    "--transport=threads",
                )  # fmt: skip
                self.assertEqual(finished.code, 1, finished.errors)
                self.assertIn("as padded rows would change", finished.errors)

    def test_resumes_within_an_epoch(self) -> None:
        _, archive, weights = self.exported(Tagger)
        job = self.compile_archive(archive, 2, 2, 2)
        data, saved = self.save(Tagger.inputs(EPOCH)), self.path("checkpoints")
        common = ["--transport=threads", "--ranks=4"]
        whole = self.train(job, data, 6, f"--init={weights}", *common)
        first = self.train(
            job, data, 3, f"--init={weights}", f"--checkpoint-dir={saved}", *common
        )
        rest = self.train(
            job, data, 6, "--resume", f"--checkpoint-dir={saved}", *common
        )
        self.assertEqual(first.losses + rest.losses, whole.losses)
        self.assertEqual(
            {name: tensor.data for name, tensor in rest.parameters.items()},
            {name: tensor.data for name, tensor in whole.parameters.items()},
        )


class Evaluation(BatchesTest):
    def test_counts_every_sample_once(self) -> None:
        self.check_evaluation(Tagger, LAYOUTS, 21)
        self.check_evaluation(Averaged, LAYOUTS if EXHAUSTIVE else LAYOUTS[1::4], 13)

    def test_leaves_out_no_sample_where_training_does(self) -> None:
        self.check_evaluation(Tagger, [(1, 1, 1), (2, 2, 2)], 5, drop_last=True)
        self.check_evaluation(SeveralLosses, [(2, 2, 1)], 13, drop_last=True)

    def test_of_samples_that_cannot_be_padded(self) -> None:
        _, archive, weights = self.export(Contrast)
        job = self.compile_archive(archive, 1, 2, 2, drop_last=True)
        finished = run(
            "smp-run", job, "--eval-data", self.save(Contrast.inputs(13)),
            f"--init={weights}", "--transport=threads", "--ranks=2",
        )  # fmt: skip
        self.assertEqual(finished.code, 1)
        self.assertIn("expects a multiple of 8 samples, as padded rows", finished.errors)
        self.assertIn("note: evaluation leaves out no samples: give", finished.errors)

    def test_of_losses_with_several_terms(self) -> None:
        """Is the loss of the file as one batch, penalties and sums included."""
        self.check_evaluation(SeveralLosses, [(1, 1, 1), (2, 2, 2)], 13)
        self.check_evaluation(Likelihood, [(1, 1, 1), (2, 2, 2)], 13)
        self.check_evaluation(Penalties, [(1, 1, 2), (1, 2, 1), (2, 1, 2)], 13)
        self.check_evaluation(TimeFirst, [(2, 1, 2), (1, 2, 2)], 13)


class NoNumbers(BatchesTest):
    """A sample whose value is not finite, in the second step of each epoch."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.inputs = Averaged.inputs(3 * ROWS)
        cls.inputs["x"][ROWS + 2, 0] = float("inf")

    def test_steps_without_gradients_are_skipped(self) -> None:
        """Neither the rate nor the corrections of the moments count them."""
        model, archive, weights = self.export(Averaged)
        data = self.save(self.inputs)
        for optimizer, clips in itertools.product(("adamw", "sgd"), (True, False)):
            config = {
                "optimizer": {"name": optimizer, "lr": 0.01},
                "lr_schedule": {"name": "linear", "warmup_steps": 2, "total_steps": 9},
            }
            if clips:
                config["gradient_clipping"] = CLIPPING
            good = {n: torch.cat([v[:ROWS], v[2 * ROWS :]]) for n, v in self.inputs.items()}
            for pp, owners in ((1, 1), (2, 1), (2, 2)):
                with self.subTest(optimizer=optimizer, clips=clips, pp=pp, owners=owners):
                    job = self.compile_archive(archive, pp, owners, 2, **config)
                    common = [
                        f"--init={weights}", "--data-order=file", "--transport=threads",
                        f"--ranks={pp * owners}",
                    ]  # fmt: skip
                    expected = self.train(job, self.save(good), 4, *common)
                    self.check_skips(job, data, common, expected)

    def check_skips(self, job, data, common, expected) -> None:
        """As a run over the good samples alone: same bits."""
        metrics, dump = self.path("m.jsonl"), self.path("end.safetensors")
        finished = run(
            "smp-run", job, "--data", data, "--steps=6", "--on-nan=skip", *common,
            "--metrics", metrics, "--dump-parameters", dump,
        )  # fmt: skip
        self.assertEqual(finished.code, 0, finished.errors)
        self.assertRegex(
            finished.errors, r"step 2 expects a finite loss, got \S+: its update is left out"
        )
        lines = read_metrics(metrics)
        skipped = [line.get("skipped", False) for line in lines]
        self.assertEqual(skipped, [False, True, False, False, True, False])
        self.assertIsNone(lines[1]["loss"])
        kept = [line["loss"] for line in lines if not line.get("skipped")]
        self.assertSame(Trained(kept, read_safetensors(dump)[0]), expected)

    def test_a_resumed_run_counts_the_skipped_steps(self) -> None:
        _, archive, weights = self.export(Averaged)
        config = {"optimizer": {"name": "adamw", "lr": 0.01}}
        job, data = self.compile_archive(archive, 2, 1, 2, **config), self.save(self.inputs)
        saved = f"--checkpoint-dir={self.path('checkpoints')}"
        common = ["--data-order=file", "--transport=threads", "--on-nan=skip"]
        whole = self.train(job, data, 6, f"--init={weights}", *common)
        self.train(job, data, 3, f"--init={weights}", saved, *common)
        rest = self.train(job, data, 6, "--resume", saved, *common)
        self.assertSame(rest, Trained(whole.losses[3:], whole.parameters))

    def test_running_averages_are_not_mended(self) -> None:
        job = self.compile("resnet", {"batch_size": 4, "microbatches": 2})
        rows = Reference.of("resnet").below("steps/inputs/")
        name = next(n for n, tensor in rows.items() if tensor.dtype == "F32")
        images = rows[name].values()
        images[5] = float("nan")
        rows[name] = Tensor("F32", rows[name].shape, images.tobytes())
        data = write_safetensors(self.path("rows.safetensors"), rows)
        finished = run(
            "smp-run", job, "--data", data, "--data-order=file", "--steps=3",
            "--init=reference", "--on-nan=skip", "--transport=threads",
        )  # fmt: skip
        self.assertEqual(finished.code, 1, finished.errors)
        self.assertRegex(finished.errors, r"step 1 expects finite values of '\S+running_\w+'")


if __name__ == "__main__":
    main()
