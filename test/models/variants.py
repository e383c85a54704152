# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models whose parameters, inputs, outputs and losses are related in all
the ways that people relate them."""

from __future__ import annotations

import torch
from plain import Plain
from torch import nn
from torch.nn import functional as F


class Shared(Plain):
    """A module that is called twice, and one of its layers once more."""

    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.LayerNorm(8))

    def body(self, x):
        return self.block[0](self.block(self.block(x)) * 0.5)


class Tied(Plain):
    """One parameter under three names: used as it is, transposed, as a table."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(8, 8)
        self.turned = nn.Linear(8, 8, bias=False)
        self.turned.weight = self.table.weight
        self.first.weight = self.table.weight

    def body(self, x):
        rows = self.table((x > 0).sum(-1).clamp(max=7))
        return self.turned(x) @ self.turned.weight * 0.2 + rows


class Frozen(Plain):
    """Gradients pass through frozen layers, and stop nowhere but there."""

    def __init__(self):
        super().__init__()
        self.middle = nn.Linear(8, 8).requires_grad_(False)
        self.scale = nn.Parameter(torch.full((8,), 1.5), requires_grad=False)
        self.second.bias.requires_grad_(False)

    def body(self, x):
        return F.gelu(self.middle(x)) * self.scale


class WithoutGradient(Plain):
    """Parameters that are used where no gradient flows."""

    def __init__(self):
        super().__init__()
        self.detached = nn.Parameter(torch.linspace(-1, 1, 8))
        self.compared = nn.Parameter(torch.linspace(-0.5, 0.5, 8))
        self.both = nn.Parameter(torch.linspace(0.5, 1, 8))

    def body(self, x):
        chosen = torch.where(x > self.compared, x, x * 0.5)
        return chosen * self.detached.detach() + self.both.detach() * x * self.both


class Unused(Plain):
    """Inputs, parameters, a buffer and outputs of no use to the loss."""

    def __init__(self):
        super().__init__()
        self.idle = nn.Linear(3, 3)
        self.listener = nn.Linear(8, 2)
        self.register_buffer("count", torch.arange(4.0))

    def forward(self, x, noise, target, tokens):
        y = self.second(self.first(x))
        return {
            "heard": self.listener(x),
            "loss": F.mse_loss(y, target),
            "input": tokens + 1,
            "y": y,
            "shift": y.detach() + 1,
        }

    @staticmethod
    def inputs(batch: int = 2) -> dict:
        x, target = Plain.inputs(batch).values()
        return {
            "x": x,
            "noise": torch.ones(batch, 5),
            "target": target,
            "tokens": torch.arange(batch * 3).view(batch, 3),
        }


class Least(Plain):
    """The least and the largest of several dims and of numbers; tensors made of
    nothing."""

    def body(self, x):
        y = x - x.amin((1, 2), keepdim=True) - 0.1 * torch.min(x, x.new_full((), 0.3))
        y = y * torch.linspace(-1, 0.75, 8).type_as(x) + self.second.weight.max() * x
        return y @ torch.eye(8, 9).type_as(x)[:, :8] + torch.eye(6, 8).type_as(x) * self.first.bias.min()


class Kinks(Plain):
    """Numbers where slopes change: what PyTorch takes there, it takes often, as
    paddings and first weights are zero and clamped numbers lie at their bounds."""

    FORMS = [
        F.relu, F.elu, F.selu, F.celu, lambda x: F.celu(x, 0.5), F.softplus, F.logsigmoid, F.mish,
        F.hardswish, F.hardsigmoid, F.hardtanh, F.relu6, F.leaky_relu, torch.abs, F.gelu, F.silu,
        lambda x: F.softplus(x, beta=2.0, threshold=2.0), lambda x: x.clamp(-1, 1),
        lambda x: x.clamp(min=0), lambda x: x.clamp_max(0), lambda x: torch.maximum(x, 0 * x),
        lambda x: torch.minimum(x, x * 1), lambda x: F.smooth_l1_loss(x, 0 * x, reduction="none"),
        lambda x: F.huber_loss(x, 0 * x, reduction="none"), lambda x: torch.where(x > 0, x, -2 * x),
        lambda x: F.binary_cross_entropy_with_logits(x, 0 * x + 0.25, reduction="none"),
        lambda x: F.binary_cross_entropy_with_logits(
            x, 0 * x + 0.25, pos_weight=torch.full((8,), 2.0).type_as(x), reduction="none"
        ),
    ]  # fmt: skip

    def __init__(self):
        super().__init__()
        self.places = nn.Parameter(torch.tensor([0.0, 1.0, -1.0, 3.0, -3.0, 6.0, 0.5, -0.5]))

    def body(self, x):
        parts = [form(self.places) * (1 + 0.1 * i) for i, form in enumerate(self.FORMS)]
        return x * 0.1 + torch.stack(parts).sum(0) * 0.05


class SeveralLosses(Plain):
    """Terms with other counts: one of all elements, one of the rows with a
    label, a sum; each weighted, and given as outputs too."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 5)

    def forward(self, x, target, labels):
        hidden = self.first(x).tanh()
        y, logits = self.second(hidden), self.head(hidden)
        error = F.mse_loss(y, target)
        entropy = F.cross_entropy(logits.flatten(0, 1), labels.flatten())
        size = y.abs().sum() * 0.01
        loss = 0.7 * error + 0.3 * entropy - size / 4
        return {"loss": loss, "error": error.detach(), "entropy": entropy, "y": y}

    @staticmethod
    def inputs(batch: int = 2) -> dict:
        labels = torch.arange(batch * 6).view(batch, 6) % 5
        # Other rows have other numbers of labels.
        hidden = torch.arange(batch).view(-1, 1) % 4 >= torch.arange(6)
        return Plain.inputs(batch) | {"labels": labels.masked_fill(hidden, -100)}


class Likelihood(SeveralLosses):
    """Probabilities that are no softmax, some rows without a label."""

    def forward(self, x, target, labels):
        odds = self.head(self.first(x).tanh()).softmax(-1) * 0.9 + 0.02
        loss = F.nll_loss(odds.log().flatten(0, 1), labels.flatten())
        return {"loss": loss + F.mse_loss(self.second(x), target)}


class Balanced(SeveralLosses):
    """Classes whose weights are a buffer."""

    def __init__(self):
        super().__init__()
        self.criterion = nn.CrossEntropyLoss(torch.tensor([0.3, 1.0, 0.05, 2.5, 0.7]))

    def forward(self, x, target, labels):
        hidden = self.first(x).tanh()
        loss = self.criterion(self.head(hidden).flatten(0, 1), labels.flatten())
        return {"loss": loss + F.mse_loss(self.second(hidden), target)}


def loss_of(form) -> type:
    """A model whose loss is this form of elements, targets, logits and labels,
    of which some are none; with means of squares, so that all is trained."""

    class WithLoss(SeveralLosses):
        def forward(self, x, target, labels):
            hidden = self.first(x).tanh()
            y, logits = self.second(hidden), self.head(hidden)
            loss = F.mse_loss(y, target) + logits.square().mean() / 100
            return {"loss": loss + form(y, target, logits, labels)}

    return WithLoss


def _weighed(y, target, logits, labels):
    weight = torch.tensor([0.5, 1.0, 1.5, 2.0])
    positive = torch.tensor([1.0, 1.5, 2.0, 3.0])
    wanted = target.sigmoid()
    return F.binary_cross_entropy_with_logits(
        y, wanted, weight.type_as(y), pos_weight=positive.type_as(y)
    ) + F.binary_cross_entropy(y.sigmoid(), (target > 0).to(y.dtype), weight.type_as(y))


def _soft(y, target, logits, labels):
    shares = target.sum(-1, keepdim=True).sin().expand_as(logits)
    shares = (shares * torch.arange(5).to(y.dtype)).softmax(-1).transpose(1, 2)
    logits = logits.transpose(1, 2)
    each = F.cross_entropy(logits, shares, reduction="none")
    return F.cross_entropy(logits, shares, label_smoothing=0.2) + each.mean()


def _balanced(y, target, logits, labels):
    weight = torch.tensor([0.3, 1.0, 0.05, 2.5, 0.0]).to(y.dtype)
    places = logits.transpose(1, 2)
    shares = places.detach().sin().softmax(1)
    return (
        F.cross_entropy(places, labels, weight, label_smoothing=0.2)
        + F.cross_entropy(places, labels, weight, reduction="none").mean()
        + F.cross_entropy(places, shares, weight, label_smoothing=0.1)
        + F.nll_loss(places.log_softmax(1), labels, weight)
        + F.nll_loss(places.log_softmax(1), labels, weight, reduction="sum") / 50
    )


def _divergence(y, target, logits, labels):
    logs, wanted = y.log_softmax(-1), (target - 1).relu()
    other = F.kl_div(logs, target.log_softmax(-1), reduction="sum", log_target=True)
    return (
        F.kl_div(logs, wanted, reduction="none").mean()
        + F.kl_div(logs, wanted, reduction="batchmean")
        + other / 100
    )


LOSSES = {
    "smoothed labels": lambda y, target, logits, labels: F.cross_entropy(
        logits.flatten(0, 1), labels.flatten(), label_smoothing=0.1
    ),
    "smoothed labels of places": lambda y, target, logits, labels: F.cross_entropy(
        logits.transpose(1, 2), labels, label_smoothing=0.3, reduction="sum"
    ) / 100,
    "each label": lambda y, target, logits, labels: F.cross_entropy(
        logits.transpose(1, 2), labels, reduction="none"
    ).mean(),
    "each likelihood": lambda y, target, logits, labels: F.nll_loss(
        logits.log_softmax(-1).transpose(1, 2), labels, reduction="none"
    ).square().mean(),
    "soft labels": _soft,
    "balanced classes": _balanced,
    "smooth errors": lambda y, target, logits, labels: F.smooth_l1_loss(y, target, beta=0.3)
    + F.smooth_l1_loss(y, target, beta=0.0),
    "huber": lambda y, target, logits, labels: F.huber_loss(y, target, delta=0.4),
    "divergence": _divergence,
    "weighed answers": _weighed,
    "sum by batch": lambda y, target, logits, labels: (y - target).abs().sum() / y.shape[0],
    "sum beside its mean": lambda y, target, logits, labels: 0.02 * (y - target).abs().sum()
    + F.l1_loss(y, target) * 0.7,
    "each row": lambda y, target, logits, labels: F.cross_entropy(
        logits.flatten(0, 1), labels.flatten(), reduction="none"
    ).view_as(labels).sum(1).mean(),
}  # fmt: skip


class Penalties(Plain):
    """Terms that no sample reaches; a learned weight of the task's loss."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(0.3))

    def forward(self, x, target):
        y = self.second(self.first(x).relu())
        task = F.mse_loss(y, target) * torch.exp(-self.weight) + self.weight
        sizes = [p.square().sum() for p in (self.first.weight, self.second.weight)]
        return {"loss": task + 0.01 * torch.stack(sizes).sum() + self.first.bias.abs().mean(), "y": y}


class Mixed(Penalties):
    """A penalty and the task's loss in one tensor of terms."""

    def forward(self, x, target):
        y = self.second(self.first(x).relu())
        terms = [F.mse_loss(y, target), self.first.weight.square().mean()]
        return {"loss": (torch.stack(terms) * torch.tensor([1.0, 0.1]).to(y.dtype)).sum(), "y": y}


class Placed(Plain):
    """Rows and elements that integers choose, with gradients: of each sample one
    place, of parameters, of several dims, counted from the end."""

    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.linspace(-1, 1, 15).view(3, 5))
        self.register_buffer("i", torch.tensor([[2, 0, -1], [1, 1, -3]]), persistent=False)
        self.register_buffer("j", torch.tensor([0, -5, 3]))

    def forward(self, x, target, length):
        hidden = self.first(x)
        last = hidden[torch.arange(x.shape[0]), length - 1]
        turned = hidden[:, [5, 0, -1]].sum(1) + hidden[:, :, self.j].sum(2)[:, :1]
        pairs = self.bias[self.i, self.j].sum(0).repeat(3)[:8]
        picked = hidden.index_select(1, self.j.abs()).mean(1)
        y = self.second(last + turned + pairs * picked)
        return {"loss": F.mse_loss(y, target[:, 0]), "y": y}

    @staticmethod
    def inputs(batch: int = 2) -> dict:
        return Plain.inputs(batch) | {"length": torch.arange(batch) * 5 % 7}


KINDS = [
    Shared, Tied, Frozen, WithoutGradient, Unused, Least, Kinks, SeveralLosses,
    Likelihood, Balanced, Penalties, Mixed, Placed,
]  # fmt: skip
NARROW = [Plain, Shared, Tied, Frozen, Unused, Balanced]
