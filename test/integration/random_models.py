# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random models: blocks of [rows, S, D] one after the other, and a loss of
several terms. Everything follows from a source of choices."""

from __future__ import annotations

import contextlib

import torch
from torch import nn
from torch.nn import functional as F

from random_forms import FAMILIES, over_rows

CLASSES = 5


class Forms(nn.Module):
    """A graph of forms, each of two of the values before it."""

    def __init__(self, r, s, d, mixing=False):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(d) + 0.5)
        self.steps = []
        for i in range(r.randrange(2, 7)):
            family = over_rows if mixing and i == 1 else r.choice(FAMILIES)
            self.steps.append((family(r, s, d), r.randrange(i + 1), r.randrange(i + 1)))

    def forward(self, x):
        values = [x * self.scale]
        for form, a, b in self.steps:
            values.append(form(values[a], values[b]))
        return x + values[-1].tanh() * 0.7


class Dense(nn.Module):
    def __init__(self, r, s, d):
        super().__init__()
        wide = r.choice([3, d, 2 * d + 1])
        self.norm = r.choice([
            nn.LayerNorm(d), nn.RMSNorm(d), nn.LayerNorm(d, elementwise_affine=False),
            nn.LayerNorm(d, bias=False), nn.Identity(),
        ])  # fmt: skip
        self.up = nn.Linear(d, wide, bias=r.random() < 0.7)
        acts = [nn.GELU(), nn.ReLU(), nn.SiLU(), nn.Tanh(), nn.PReLU(init=0.1), nn.Dropout(0.0)]
        self.act = r.choice(acts)
        self.down = nn.Linear(wide, d, bias=r.random() < 0.7)
        self.after = r.random() < 0.4

    def forward(self, x):
        if self.after:
            return self.norm(x + self.down(self.act(self.up(x))))
        return x + self.down(self.act(self.up(self.norm(x))))


class Attention(nn.Module):
    def __init__(self, r, s, d):
        super().__init__()
        self.heads = r.choice([1, 2, 4])
        self.groups = r.choice([1, self.heads, self.heads])
        self.by_hand = r.random() < 0.4
        self.mask = r.choice(["none", "causal", "fixed", "added", "data", "learned"])
        size = d // self.heads
        self.q, self.k, self.v = (
            nn.Linear(d, size * n, bias=r.random() < 0.5)
            for n in (self.heads, self.groups, self.groups)
        )
        self.out = nn.Linear(d, d)
        self.scale = r.choice([None, 0.3])
        hidden = torch.rand(s, s, generator=torch.Generator().manual_seed(r.randrange(99))) < 0.3
        self.register_buffer("hidden", hidden & ~torch.eye(s, dtype=torch.bool))
        if self.mask == "learned":
            self.bias = nn.Parameter(torch.randn(self.heads, s, s) * 0.3)

    def chosen(self, x):
        """What may be seen, or what is added."""
        s = x.shape[1]
        if self.mask == "causal":
            return torch.ones(s, s, dtype=torch.bool).tril()
        if self.mask == "fixed":
            return ~self.hidden
        if self.mask == "added":
            return torch.zeros(s, s, dtype=x.dtype).masked_fill(self.hidden, -1e9)
        if self.mask == "data":
            seen = (x[..., 0] > -0.3)[:, None, None, :]
            return seen | torch.eye(s, dtype=torch.bool)
        return None if self.mask == "none" else self.bias

    def forward(self, x):
        q, k, v = (
            f(x).unflatten(-1, (n, -1)).transpose(1, 2)
            for f, n in ((self.q, self.heads), (self.k, self.groups), (self.v, self.groups))
        )
        mask = self.chosen(x)
        if self.by_hand:
            if self.groups != self.heads:
                k, v = (t.repeat_interleave(self.heads // self.groups, 1) for t in (k, v))
            scores = q @ k.transpose(-2, -1) * (self.scale or q.shape[-1] ** -0.5)
            if mask is not None and mask.dtype == torch.bool:
                scores = scores.masked_fill(~mask, float("-inf"))
            elif mask is not None:
                scores = scores + mask
            y = scores.softmax(-1) @ v
        else:
            causal = self.mask == "causal"
            y = F.scaled_dot_product_attention(
                q, k, v, None if causal else mask, is_causal=causal, scale=self.scale,
                enable_gqa=self.groups != self.heads,
            )  # fmt: skip
        return x + self.out(y.transpose(1, 2).flatten(2))


class Along(nn.Module):
    """A convolution over time or over features, and a norm of channels."""

    def __init__(self, r, s, d, batch_norm=False):
        super().__init__()
        self.turned = r.random() < 0.6
        n = d if self.turned else s
        groups = r.choice([1, 1, n, 2 if n % 2 == 0 else 1])
        kernel, dilation = r.choice([(1, 1), (3, 1), (3, 2), (5, 1)])
        padding = r.choice(["same", dilation * (kernel // 2)])
        self.conv = nn.Conv1d(
            n, n, kernel, padding=padding, dilation=dilation, groups=groups,
            bias=r.random() < 0.5,
        )  # fmt: skip
        half = r.choice([g for g in (1, 2, 3, n) if n % g == 0])
        self.norm = nn.BatchNorm1d(n, momentum=0.3) if batch_norm else nn.GroupNorm(half, n)

    def forward(self, x):
        y = x.transpose(1, 2) if self.turned else x
        y = self.norm(self.conv(y)).relu()
        return x + (y.transpose(1, 2) if self.turned else y)


class Image(nn.Module):
    """The rows as images of one channel, through a window and a pool."""

    def __init__(self, r, s, d, batch_norm=False):
        super().__init__()
        size = 0
        while not size:  # until the windows fit
            self.draw(r, batch_norm)
            with contextlib.suppress(RuntimeError), torch.no_grad():
                size = self.flat(torch.randn(2, s, d)).shape[1]
        self.back = nn.Linear(size, d)
        if batch_norm:
            self.norm.reset_running_stats()

    def draw(self, r, batch_norm):
        c = r.choice([2, 3, 4])
        self.conv = nn.Conv2d(
            1, c, r.choice([1, 2, 3, (1, 3)]), stride=r.choice([1, 1, 2, (1, 2)]),
            padding=r.choice([0, 1, (1, 0)]),
        )  # fmt: skip
        plain = r.choice([nn.GroupNorm(1, c), nn.Identity()])
        self.norm = nn.BatchNorm2d(c, momentum=0.2) if batch_norm else plain
        self.pool = r.choice([
            nn.MaxPool2d(2), nn.MaxPool2d(2, stride=1), nn.MaxPool2d(3, stride=2, padding=1),
            nn.AvgPool2d(2), nn.AvgPool2d(2, stride=1), nn.AvgPool2d(3, 2, padding=1),
            nn.AvgPool2d(3, 2, padding=1, count_include_pad=False), nn.AdaptiveAvgPool2d(1),
            nn.AdaptiveAvgPool2d((2, 3)), nn.Identity(),
        ])  # fmt: skip
        self.more = nn.Conv2d(c, c, 1, groups=c) if r.random() < 0.3 else nn.Identity()

    def flat(self, x):
        return self.more(self.pool(self.norm(self.conv(x.unsqueeze(1))).relu())).flatten(1)

    def forward(self, x):
        return x + self.back(self.flat(x)).unsqueeze(1)


class Table(nn.Module):
    """Rows chosen by what is computed; a buffer."""

    def __init__(self, r, s, d):
        super().__init__()
        self.table = nn.Embedding(d + 1, d, padding_idx=r.choice([None, 0, 2]))
        self.register_buffer("shift", torch.randn(s, d) * 0.2, persistent=r.random() < 0.5)
        self.frozen = nn.Parameter(torch.rand(d), requires_grad=False)

    def forward(self, x):
        return x * self.frozen + self.table((x > 0).sum(-1)) * 0.5 + self.shift


class Twice(nn.Module):
    """A block used twice, a tied product."""

    def __init__(self, r, s, d):
        super().__init__()
        self.inner = Dense(r, s, d)
        self.turned = nn.Linear(d, d, bias=False)
        self.same = nn.Linear(d, d)
        self.same.weight = self.turned.weight

    def forward(self, x):
        y = self.inner(x)
        return self.inner(y) * 0.5 + self.same(self.turned(y).tanh()) @ self.turned.weight * 0.3


VALUES = ["mse", "l1", "huber", "smooth", "bce", "sum", "size", "written"]
CLASSIFIED = ["entropy", "places", "smoothed", "soft", "likelihood", "divergence", "each"]


class Heads(nn.Module):
    """Terms of the loss. Each is its kind, weight and value, and what it is: a
    mean of so many, a 'sum' or a 'penalty'."""

    def __init__(self, r, s, d):
        super().__init__()
        self.ignored = r.choice([-100, -100, 255, -1])
        self.kinds = r.sample([*VALUES, *CLASSIFIED, "penalty"], r.randrange(1, 4))
        if self.kinds == ["penalty"]:
            self.kinds.append("mse")
        self.weights = [r.choice([1.0, 1.0, 0.3]) for _ in self.kinds]
        self.reduction = r.choice(["mean", "mean", "sum"])
        self.smoothing = r.choice([0.1, 0.4])
        self.pooled = r.random() < 0.3  # labels of whole rows
        self.out, self.logits = nn.Linear(d, 3), nn.Linear(d, CLASSES)

    def terms(self, x, target, labels):
        return [
            (kind, weight, *self.term(kind, x, target, labels))
            for kind, weight in zip(self.kinds, self.weights)
        ]

    def term(self, kind, x, target, labels):
        if kind == "penalty":
            return sum(p.square().sum() for p in self.parameters() if p.dim() > 1) * 0.01, kind
        if kind in VALUES:
            return self.of_values(kind, self.out(x), target)
        if self.pooled:
            x, labels = x.mean(1), labels[:, 0]
        return self.of_classes(kind, self.logits(x), labels)

    def reduced(self, value, count):
        return (value, count) if self.reduction == "mean" else (value * 0.02, "sum")

    def of_values(self, kind, y, target):
        few = {"reduction": self.reduction}
        if kind == "sum":
            return y.abs().sum() * 0.01, "sum"
        if kind == "size":
            return (y - target).square().sum() / y.shape[0], y.shape[0]
        if kind == "written":
            return (y - target).square().mean(-1).mean(), y.numel()
        value = {
            "mse": lambda: F.mse_loss(y, target, **few),
            "l1": lambda: F.l1_loss(y, target, **few),
            "huber": lambda: F.huber_loss(y, target, delta=0.4, **few),
            "smooth": lambda: F.smooth_l1_loss(y, target, beta=0.3, **few),
            "bce": lambda: F.binary_cross_entropy_with_logits(y, target.sigmoid(), **few),
        }[kind]()
        return self.reduced(value, y.numel())

    def of_classes(self, kind, logits, labels):
        few = {"reduction": self.reduction}
        some = few | {"ignore_index": self.ignored}
        flat, marks = logits.reshape(-1, CLASSES), labels.reshape(-1)
        shares = torch.linspace(-1, 1, CLASSES).type_as(flat).softmax(-1).expand_as(flat)
        rows = flat.shape[0]
        if kind == "soft":
            return self.reduced(F.cross_entropy(flat, shares, **few), rows)
        if kind == "divergence":
            by = "batchmean" if self.reduction == "mean" else "sum"
            return self.reduced(F.kl_div(flat.log_softmax(-1), shares, reduction=by), rows)
        if kind == "each":
            each = F.cross_entropy(flat, marks, ignore_index=self.ignored, reduction="none")
            return self.reduced(each.mean() if self.reduction == "mean" else each.sum(), rows)
        exporting = torch.compiler.is_compiling()
        counted = 1 if exporting else int((marks != self.ignored).sum())
        value = {
            "entropy": lambda: F.cross_entropy(flat, marks, **some),
            "smoothed": lambda: F.cross_entropy(
                flat, marks, label_smoothing=self.smoothing, **some
            ),
            "places": lambda: F.cross_entropy(logits.movedim(-1, 1), labels, **some),
            "likelihood": lambda: F.nll_loss(flat.log_softmax(-1), marks, **some),
        }[kind]()
        return self.reduced(value, counted)


class RandomModel(nn.Module):
    """`mixing` is "forms" or "norm" where samples of a microbatch change each
    other, by a form or by batch norm."""

    def __init__(self, r):
        super().__init__()
        self.s, self.d = r.choice([2, 4, 5, 6]), r.choice([4, 8])
        self.mixing = r.choices(["forms", "norm", ""], [12, 18, 70])[0]
        self.tokens = r.random() < 0.4
        if self.tokens:
            self.stem = nn.Embedding(7, self.d)
            self.places = nn.Parameter(torch.randn(self.s, self.d) * 0.3)
        else:
            dense = nn.Linear(5, self.d)
            self.stem = r.choice([dense, nn.Sequential(dense, nn.Tanh())])
        self.blocks = nn.ModuleList(self.draw_blocks(r))
        self.heads = Heads(r, self.s, self.d)
        self.idle = nn.Linear(3, 2) if r.random() < 0.2 else None
        for p in [*self.stem.parameters(), *self.blocks.parameters()]:
            if r.random() < 0.06:
                p.requires_grad_(False)

    def draw_blocks(self, r):
        kinds = [Forms, Forms, Forms, Dense, Attention, Along, Image, Table, Twice]
        blocks = [r.choice(kinds) for _ in range(r.randrange(1, 6))]
        mixing = {"forms": [Forms], "norm": [Along, Image], "": []}[self.mixing]
        if mixing:
            blocks[r.randrange(len(blocks))] = r.choice(mixing)
        for block in blocks:
            more = (True,) if block in mixing else ()
            yield block(r, self.s, self.d, *more)

    def terms(self, x, target, labels):
        x = self.stem(x) + self.places if self.tokens else self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.heads.terms(x, target, labels)

    def forward(self, x, target, labels):
        return sum(weight * value for _, weight, value, _ in self.terms(x, target, labels))

    def inputs(self, rows, seed, step):
        """Every step of so many rows has a label that counts."""
        g = torch.Generator().manual_seed(seed)
        shape = (rows, self.s)
        labels = torch.randint(0, CLASSES, shape, generator=g)
        hidden = torch.rand(shape, generator=g) < torch.rand((rows, 1), generator=g)
        hidden[::step, 0] = False
        tokens = torch.randint(0, 7, shape, generator=g)
        return {
            "x": tokens if self.tokens else torch.randn(*shape, 5, generator=g),
            "target": torch.randn(*shape, 3, generator=g),
            "labels": labels.masked_fill(hidden, self.heads.ignored),
        }
