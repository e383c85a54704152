# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random configurations, and how PyTorch trains and evaluates as they say."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass

import torch
from test_optimizers import make_optimizer


@dataclass
class Result:
    losses: list
    parameters: dict
    evaluation: float  # of all samples at the end


@dataclass
class Setting:
    """How a step is cut, and how long the run is."""

    owners: int
    rows: int  # of a microbatch
    parts: int  # microbatches of an owner, over all accumulations
    epoch: int
    steps: int
    config: dict

    @property
    def step(self) -> int:
        return self.owners * self.parts * self.rows

    @property
    def stages(self) -> int:
        return self.config["pipeline_parallel_degree"]


def draw_optimizer(r) -> dict:
    kind = r.choice(["sgd", "sgd", "adam", "adamw"])
    made = {"name": kind, "lr": r.choice([0.02, 0.1]) if kind == "sgd" else 0.01}
    made["weight_decay"] = r.choice([0.0, 0.1])
    if kind == "sgd":
        made["momentum"] = r.choice([0.0, 0.9])
    else:
        made["betas"] = r.choice([[0.9, 0.999], [0.8, 0.95]])
        made["eps"] = 1e-5  # so that noise is no step
    if r.random() < 0.4:
        made["groups"] = r.sample([
            {"match": "bias$", "weight_decay": 0.0}, {"match": "weight", "lr_scale": 0.5},
            {"match": "heads", "lr_scale": 2.0, "weight_decay": 0.02},
            {"match": "^stem", "frozen": True},
        ], r.randrange(1, 3))  # fmt: skip
    return made


def draw_setting(r, model) -> Setting:
    owners, accumulation = r.choice([1, 1, 2]), r.choice([1, 1, 2])
    pieces, rows = r.choice([1, 2, 2, 4]), r.choice([1, 2, 3])
    if model.mixing == "norm":
        rows = max(rows, 2)
    steps = r.randrange(3, 6)
    stages = r.choice([1, 2, 2, 3, 4])
    stages = min(stages, len(model.blocks) + 1)
    config = {
        "pipeline_parallel_degree": stages,
        "pipeline": r.choice(["simple", "1f1b", "interleaved", "interleaved"]),
        "microbatches": pieces,
        "gradient_accumulation": accumulation,
        "batch_size": pieces * rows,
        "loss_normalization": r.choice(["step", "step", "microbatch", "sum"]),
        "optimizer": draw_optimizer(r),
    }
    if stages > 1 and r.random() < 0.2:
        # Each has a block, or what is no block: the ends of the model.
        places = list(range(stages)) + [r.randrange(stages) for _ in range(9)]
        config |= {
            "auto_partition": False, "contiguous": False, "default_partition": stages - 1,
            "assignment": {f"blocks.{i}": places[i] for i in range(len(model.blocks))},
        }  # fmt: skip
    if r.random() < 0.4:
        config["gradient_clipping"] = r.choice([0.1, 1.0])
    if r.random() < 0.4:
        config["lr_schedule"] = {
            "name": r.choice(["constant", "linear", "cosine"]), "warmup_steps": r.choice([0, 2]),
            "total_steps": r.choice([4, 6]), "min_lr": r.choice([0.0, 1e-3]),
        }  # fmt: skip
    step = owners * accumulation * pieces * rows
    ragged = r.random() < 0.4 and not model.mixing and step > 1
    epoch = 2 * step - r.randrange(1, step) if ragged else 2 * step
    return Setting(owners, rows, pieces * accumulation, epoch, steps, config)


CONSTANT = {"name": "constant", "warmup_steps": 0, "total_steps": 0}


def rate_of(step: int, base: float, rates: dict) -> float:
    warm, total = rates["warmup_steps"], rates["total_steps"]
    if step < warm:
        return base * (step + 1) / warm
    if rates["name"] == "constant":
        return base
    share = min(1.0, (step - warm) / (total - warm))
    left = 1 - share if rates["name"] == "linear" else (1 + math.cos(math.pi * share)) / 2
    return rates["min_lr"] + (base - rates["min_lr"]) * left


def pieces_of(inputs: dict, rows: int) -> list[dict]:
    number = len(inputs["x"])
    return [{n: v[at : at + rows] for n, v in inputs.items()} for at in range(0, number, rows)]


def loss_of(model, inputs: dict, setting: Setting, begin=lambda owner, is_new: None):
    """Of a step, piece by piece, as docs/Data.md says."""
    normalization = setting.config["loss_normalization"]
    sums: dict = {}
    for i, piece in enumerate(pieces_of(inputs, setting.rows)):
        begin(i // setting.parts, i % setting.parts == 0)
        for t, (_, weight, value, what) in enumerate(model.terms(**piece)):
            value = value * weight
            total, count = sums.get(t, (0, 0))
            if what == "penalty":  # in each microbatch, or once
                total, count = value * (setting.parts if normalization == "sum" else 1), 1
            elif what == "sum":
                total, count = total + value, 1
            elif what and normalization == "step":
                total, count = total + value * what, count + what
            elif what:
                many = setting.owners * (setting.parts if normalization == "microbatch" else 1)
                total, count = total + value / many, 1
            sums[t] = total, count
    return sum(total / count for total, count in sums.values() if count)


def in_type(inputs: dict, dtype) -> dict:
    return {n: v.to(dtype) if v.is_floating_point() else v for n, v in inputs.items()}


class Averages:
    """Batch norm's: each owner's from those of the step before, and their mean
    after it. Each microbatch gets new tensors, since gradients keep the old."""

    def __init__(self, model):
        self.places = [
            (module, name) for module in model.modules()
            for name in module._buffers if name.startswith("running")
        ]  # fmt: skip
        self.before = self.now()
        self.after: list = []

    def now(self) -> list:
        return [module._buffers[name] for module, name in self.places]

    def renew(self, values) -> None:
        for (module, name), value in zip(self.places, values):
            module._buffers[name] = value.clone()

    def begin(self, owner: int, is_new: bool) -> None:
        if is_new and owner:
            self.after.append(self.now())
        self.renew(self.before if is_new else self.now())

    def end(self) -> None:
        self.after.append(self.now())
        self.renew([sum(each) / len(each) for each in zip(*self.after)])


def train_torch(model, inputs: dict, setting: Setting, dtype) -> Result:
    model = copy.deepcopy(model).to(dtype).train()
    inputs = in_type(inputs, dtype)
    settings = setting.config["optimizer"]
    plain = {k: v for k, v in settings.items() if k != "groups"}
    optimizer, factors = make_optimizer(model, plain, settings.get("groups", []))
    starts = list(range(0, setting.epoch, setting.step))
    losses = []
    for step in range(setting.steps):
        rate = rate_of(step, plain["lr"], setting.config.get("lr_schedule", CONSTANT))
        for group, factor in zip(optimizer.param_groups, factors):
            group["lr"] = rate * factor
        at = starts[step % len(starts)]
        batch = {n: v[at : min(at + setting.step, setting.epoch)] for n, v in inputs.items()}
        optimizer.zero_grad()
        averages = Averages(model)
        loss = loss_of(model, batch, setting, averages.begin)
        averages.end()
        loss.backward()
        if "gradient_clipping" in setting.config:
            trained = [p for g in optimizer.param_groups for p in g["params"]]
            torch.nn.utils.clip_grad_norm_(trained, setting.config["gradient_clipping"])
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    whole = copy.copy(setting)
    whole.config = setting.config | {"loss_normalization": "step"}
    with torch.no_grad():
        evaluation = loss_of(model, inputs, whole).item()
    ended = {name: p.detach() for name, p in model.named_parameters()}
    return Result(losses, ended, evaluation)
