# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The last batch of an epoch, evaluation of every sample once, and steps whose
gradients are no numbers, against PyTorch, for each way to cut the batch."""

from __future__ import annotations

import copy
import itertools
import json

from harness import (
    EXHAUSTIVE,
    IntegrationTest,
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
import smp  # isort: skip
from torch.nn import functional as F  # isort: skip
from plain import Plain  # isort: skip
from safetensors.torch import save_file  # isort: skip
from variants import Likelihood, Penalties, SeveralLosses  # isort: skip

ROWS = 8  # of a whole step
EPOCH = 11  # samples: batches of 8 and of 3
STEPS = 5
CLIPPING = 0.5
LAYOUTS = list(itertools.product((1, 2), (1, 2, 4), (1, 2)))  # pp, owners, microbatches


class Averaged(Plain):
    """The mean of the squares, of rows that have no labels to ignore."""

    def __init__(self):
        super().__init__()
        self.middle = torch.nn.Linear(8, 8)

    def body(self, x):
        return torch.log(self.middle(x).square() + 0.1)


class TimeFirst(Averaged):
    """Time lies before the batch where the losses are taken, merged with it in
    one of them. A term counts in the loss and has no gradient."""

    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(8, 5)

    def forward(self, x, target, labels):
        hidden = self.body(self.first(x.transpose(0, 1)))
        error = F.l1_loss(self.second(hidden), target.transpose(0, 1))
        logits = self.head(hidden).flatten(0, 1)
        entropy = F.cross_entropy(logits, labels.t().flatten())
        return error + entropy + 0.5 * self.second(hidden).square().mean().detach()

    inputs = SeveralLosses.inputs


class Contrast(torch.nn.Module):
    """Compares the samples of a microbatch, so none of them can be padded."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(5, 3)

    def forward(self, x, y):
        return F.cross_entropy(self.first(x) @ y.t(), torch.arange(x.shape[0]))

    @staticmethod
    def inputs(rows: int) -> dict:
        return {"x": torch.randn(rows, 5), "y": torch.randn(rows, 3)}


def batches(epoch: int) -> list[slice]:
    """Of the first steps, in the order of the file."""
    whole = [slice(at, min(at + ROWS, epoch)) for at in range(0, epoch, ROWS)]
    return [batch for _, batch in zip(range(STEPS), itertools.cycle(whole))]


def rows_of(inputs: dict, rows: slice) -> dict:
    return {name: value[rows] for name, value in inputs.items()}


def loss_of(model, inputs: dict):
    loss = model(**inputs)
    return loss["loss"] if isinstance(loss, dict) else loss


def in_double(inputs: dict) -> dict:
    return {
        name: value.double() if value.is_floating_point() else value
        for name, value in inputs.items()
    }


class BatchesTest(IntegrationTest):
    def export(self, kind):
        torch.manual_seed(3)
        model = kind()
        archive, weights = self.path("model.pt2"), self.path("weights.safetensors")
        options = {"convention": "next-token"} if kind is Tagger else {}
        smp.export(model, kind.inputs(2), archive, init={".*": "none"}, **options)
        save_file({n: p.detach().clone() for n, p in model.named_parameters()}, weights)
        return model, archive, weights

    def save(self, inputs: dict):
        path = self.path("data.safetensors")
        save_file({name: value.contiguous() for name, value in inputs.items()}, path)
        return path

    def compile_archive(self, archive, pp: int, owners: int, pieces: int, **config):
        job, settings = self.path("job"), self.path("smp.json")
        defaults = {
            "pipeline_parallel_degree": pp,
            "microbatches": pieces,
            "batch_size": ROWS // owners,
            "optimizer": {"name": "sgd", "lr": 0.1, "momentum": 0.9},
        }
        settings.write_text(json.dumps(defaults | config))
        compiled = run("smp-compile", archive, "-o", job, "--config", settings)
        self.assertEqual(compiled.code, 0, compiled.errors)
        return job


def train_torch(model, inputs: dict, steps: list[slice], loss_of=loss_of) -> tuple[list, dict]:
    model = copy.deepcopy(model).double()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for rows in steps:
        optimizer.zero_grad()
        loss = loss_of(model, in_double(rows_of(inputs, rows)))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIPPING)
        optimizer.step()
        losses.append(loss.item())
    return losses, dict(model.named_parameters())


class LastBatch(BatchesTest):
    def check(self, kind, pp: int, owners: int, pieces: int, epoch: int, **config) -> None:
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
            model, inputs, batches(kept), self.loss(config, owners, parts)
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
        for kind in (SeveralLosses, Likelihood, Penalties, TimeFirst):
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
    def check(self, kind, layouts, samples: int, **config) -> None:
        model, archive, weights = self.export(kind)
        inputs = kind.inputs(samples)
        data = self.save(inputs)
        expected = loss_of(model.eval(), inputs).item()
        for pp, owners, pieces in layouts:
            with self.subTest(kind.__name__, pp=pp, owners=owners, pieces=pieces):
                job = self.compile_archive(archive, pp, owners, pieces, **config)
                metrics = self.path("m")
                finished = run(
                    "smp-run", job, "--eval-data", data, f"--init={weights}",
                    "--transport=threads", "--ranks", pp * owners, "--metrics", metrics,
                )  # fmt: skip
                self.assertEqual(finished.code, 0, finished.errors)
                [line] = read_metrics(metrics)
                self.assertLessEqual(abs(line["eval_loss"] - expected), 1e-5 * abs(expected))

    def test_counts_every_sample_once(self) -> None:
        self.check(Tagger, LAYOUTS, 21)
        self.check(Averaged, LAYOUTS if EXHAUSTIVE else LAYOUTS[1::4], 13)

    def test_leaves_out_no_sample_where_training_does(self) -> None:
        self.check(Tagger, [(1, 1, 1), (2, 2, 2)], 5, drop_last=True)
        self.check(SeveralLosses, [(2, 2, 1)], 13, drop_last=True)

    def test_of_samples_that_cannot_be_padded(self) -> None:
        _, archive, weights = self.export(Contrast)
        job = self.compile_archive(archive, 1, 2, 2, drop_last=True)
        finished = run(
            "smp-run", job, "--eval-data", self.save(Contrast.inputs(13)),
            f"--init={weights}", "--transport=threads", "--ranks=2",
        )  # fmt: skip
        self.assertEqual(finished.code, 1)
        self.assertIn("expects a multiple of 8 samples, as this model", finished.errors)
        self.assertIn("note: evaluation leaves out no samples: give", finished.errors)

    def test_of_losses_with_several_terms(self) -> None:
        """Is the loss of the file as one batch, penalties and sums included."""
        self.check(SeveralLosses, [(1, 1, 1), (2, 2, 2)], 13)
        self.check(Likelihood, [(1, 1, 1), (2, 2, 2)], 13)
        self.check(Penalties, [(1, 1, 2), (1, 2, 1), (2, 1, 2)], 13)
        self.check(TimeFirst, [(2, 1, 2), (1, 2, 2)], 13)


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
