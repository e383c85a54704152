# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimizers, parameter groups, learning rates, accumulation and what the loss
is divided by, against PyTorch, for each way to cut the batch."""

from __future__ import annotations

import copy
import itertools
import json
import re
import sys

from harness import MODELS, IntegrationTest, main, run

sys.path[:0] = [str(MODELS), str(MODELS.parent.parent / "python")]

import torch  # noqa: E402
from plain import NextToken  # noqa: E402
from safetensors.torch import save_file  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import smp  # noqa: E402

torch.set_num_threads(1)

ROWS = 8  # of a step, over all owners and accumulations
STEPS = 6


class Tagger(NextToken):
    """A hidden layer, so that there is something to freeze before the head."""

    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(8, 8)

    def forward(self, tokens, labels):
        x = torch.tanh(self.hidden(self.embedding(tokens)))
        return F.cross_entropy(self.head(x).flatten(0, 1), labels.flatten())

    @staticmethod
    def inputs(batch: int = 2) -> dict:
        generator = torch.Generator().manual_seed(batch)
        tokens = torch.randint(0, 16, (batch, 5), generator=generator)
        labels = torch.randint(0, 16, (batch, 5), generator=generator)
        # Rows without any label, and others with some.
        labels[torch.rand((batch, 5), generator=generator) < 0.3] = -100
        labels[1::ROWS] = labels[6::ROWS] = labels[7::ROWS] = -100
        return {"tokens": tokens, "labels": labels}


GROUPS = [
    {"match": r"^embedding\.", "frozen": True},
    {"match": "bias$", "weight_decay": 0.0, "lr_scale": 0.25},
    {"match": r"^head\.(weight|bias)$", "lr_scale": 2.0},
]

OPTIMIZERS = {
    "adam": {"name": "adam", "lr": 0.02, "weight_decay": 0.1, "betas": [0.8, 0.95]},
    "adamw": {"name": "adamw", "lr": 0.02, "weight_decay": 0.1, "eps": 1e-6},
    "sgd": {"name": "sgd", "lr": 0.3, "weight_decay": 0.01, "momentum": 0.9},
}
LINEAR = {"name": "linear", "warmup_steps": 2, "total_steps": 5, "min_lr": 1e-3}


def make_optimizer(model: nn.Module, settings: dict, groups: list):
    """PyTorch's, with one group for each parameter, and the factors."""
    chosen, factors = [], []
    for name, parameter in model.named_parameters():
        group = smp_group(name, groups)
        if group.get("frozen"):
            continue
        decay = group.get("weight_decay", settings["weight_decay"])
        chosen.append({"params": [parameter], "weight_decay": decay})
        factors.append(group.get("lr_scale", 1.0))
    kinds = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}
    options = {
        key: tuple(value) if key == "betas" else value
        for key, value in settings.items()
        if key != "name"
    }
    return kinds[settings["name"]](chosen, **options), factors


def smp_group(name: str, groups: list) -> dict:
    return next((g for g in groups if re.search(g["match"], name)), {})


def linear_rate(step: int, base: float, rates: dict) -> float:
    if step < rates["warmup_steps"]:
        return base * (step + 1) / rates["warmup_steps"]
    span = rates["total_steps"] - rates["warmup_steps"]
    left = max(0.0, 1 - (step - rates["warmup_steps"]) / span)
    return rates["min_lr"] + (base - rates["min_lr"]) * left


def loss_of(model, batch: dict, normalization: str, parts: int, owners: int):
    """The loss of a step that is cut into equal parts; it may lack the last rows."""
    if normalization == "step":
        return model(**batch)
    size = ROWS // parts
    pieces = [
        {name: value[at : at + size] for name, value in batch.items()}
        for at in range(0, len(batch["labels"]), size)
    ]
    means = [model(**piece) for piece in pieces if (piece["labels"] != -100).any()]
    return sum(means) / (parts if normalization == "microbatch" else owners)


class Optimizers(IntegrationTest):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        torch.manual_seed(3)
        cls.model = Tagger().double()
        single = copy.deepcopy(cls.model).float()
        cls.archive = cls.folder / "tagger.pt2"
        smp.export(
            single, Tagger.inputs(2), cls.archive,
            init={".*": "none"}, convention="next-token",
        )  # fmt: skip
        cls.weights = cls.folder / "tagger.safetensors"
        save_file(
            {name: p.detach().clone() for name, p in single.named_parameters()}, cls.weights
        )
        cls.data = cls.folder / "data.safetensors"
        cls.batches = Tagger.inputs(ROWS * STEPS)
        save_file(cls.batches, cls.data)

    def train_torch(self, config: dict, parts: int, owners: int) -> tuple[list, dict]:
        model = copy.deepcopy(self.model)
        settings = config["optimizer"]
        groups = settings.get("groups", [])
        plain = {k: v for k, v in settings.items() if k != "groups"}
        optimizer, factors = make_optimizer(model, plain, groups)
        losses = []
        for step in range(STEPS):
            if "lr_schedule" in config:
                rate = linear_rate(step, settings["lr"], config["lr_schedule"])
                for group, factor in zip(optimizer.param_groups, factors):
                    group["lr"] = rate * factor
            batch = {k: v[step * ROWS : (step + 1) * ROWS] for k, v in self.batches.items()}
            optimizer.zero_grad()
            loss = loss_of(
                model, batch, config.get("loss_normalization", "step"), parts, owners
            )
            loss.backward()
            if "gradient_clipping" in config:
                trained = [p for g in optimizer.param_groups for p in g["params"]]
                nn.utils.clip_grad_norm_(trained, config["gradient_clipping"])
            optimizer.step()
            losses.append(loss.item())
        return losses, dict(model.named_parameters())

    def check(self, config: dict, pp: int, owners: int, accumulation: int, pieces: int):
        """`pieces` microbatches of each of the batches that are accumulated."""
        whole = config | {
            "pipeline_parallel_degree": pp,
            "gradient_accumulation": accumulation,
            "microbatches": pieces,
            "batch_size": ROWS // owners // accumulation,
        }
        parts = owners * accumulation * pieces
        with self.subTest(**config, pp=pp, owners=owners, accumulation=accumulation, pieces=pieces):
            job, settings = self.path("job"), self.path("smp.json")
            settings.write_text(json.dumps(whole))
            compiled = run("smp-compile", self.archive, "-o", job, "--config", settings)
            self.assertEqual(compiled.code, 0, compiled.errors)
            trained = self.train(
                job, self.data, STEPS, f"--init={self.weights}", "--data-order=file",
                "--transport=threads", "--threads=1", "--ranks", pp * owners,
            )  # fmt: skip
            losses, parameters = self.train_torch(config, parts, owners)
            self.assertLosses(trained.losses, losses, 1e-5)
            for name, expected in parameters.items():
                got = torch.frombuffer(
                    bytearray(trained.parameters[name].data), dtype=torch.float32
                ).view(expected.shape)
                start = self.model.get_parameter(name).detach()
                moved = (expected.detach() - start).abs().max().item()
                error = (got - expected.detach()).abs().max().item()
                if smp_group(name, config["optimizer"].get("groups", [])).get("frozen"):
                    self.assertTrue(torch.equal(got, start.float()), name)
                else:
                    self.assertLessEqual(error, 1e-3 * moved, name)

    def test_groups_and_rates(self) -> None:
        for name, pp in itertools.product(OPTIMIZERS, (1, 2)):
            optimizer = OPTIMIZERS[name] | {"groups": GROUPS}
            config = {
                "optimizer": optimizer,
                "lr_schedule": LINEAR,
                "gradient_clipping": 0.3,
            }
            self.check(config, pp, owners=1, accumulation=1, pieces=2)

    def test_normalizations(self) -> None:
        """Of labels in uneven numbers, some microbatches without any."""
        cuts = [(1, 1, 1), (1, 1, 4), (2, 1, 2), (1, 4, 1), (2, 2, 2), (1, 2, 4)]
        for normalization in ("step", "microbatch", "sum"):
            for owners, accumulation, pieces in cuts:
                config = {
                    "optimizer": OPTIMIZERS["sgd"],
                    "loss_normalization": normalization,
                }
                self.check(config, 2, owners, accumulation, pieces)

    def test_groups_that_match_nothing(self) -> None:
        finished = run(
            "smp-compile", self.archive, "-o", self.path("job"),
            '--optimizer.groups=[{"match": "gamma"}]',
        )  # fmt: skip
        self.assertEqual(finished.code, 1)
        self.assertIn(
            "expects 'optimizer.groups[0].match' to match a parameter's name, got "
            "'gamma', which matches none",
            finished.errors,
        )


if __name__ == "__main__":
    main()
