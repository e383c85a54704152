# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models and steps for tests of batches, beside what PyTorch makes of them."""

from __future__ import annotations

import copy
import itertools
import json

from harness import IntegrationTest, read_metrics, run
from test_optimizers import Tagger

import torch  # isort: skip
import smp  # isort: skip
from torch.nn import functional as F  # isort: skip
from plain import Plain  # isort: skip
from safetensors.torch import save_file  # isort: skip
from variants import SeveralLosses  # isort: skip

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


def meeting(form) -> type:
    """A model whose rows change each other's values."""

    class Meeting(Contrast):
        def forward(self, x, y):
            return F.mse_loss(form(self.first(x)), y)

    return Meeting


MEETINGS = {
    "softmax": lambda rows: rows.softmax(0) * rows,
    "mean": lambda rows: rows - rows.sum(0, keepdim=True) * 0.1,
    "cumsum": lambda rows: rows.cumsum(0),
    "products": lambda rows: rows @ rows.t() @ rows,
    "norm": lambda rows: rows / rows.square().sum().sqrt(),
    "largest": lambda rows: rows - rows.amax(),
    "mean of all": lambda rows: rows - rows.mean(),
    "sum by rows": lambda rows: rows - rows.sum() / rows.shape[0] / 3,
    "error": lambda rows: rows * F.mse_loss(rows, rows.tanh()),
}


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

    def check_evaluation(self, kind, layouts, samples: int, **config) -> None:
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
