# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models of the kinds that people write by hand: each meets something
that a raw graph of torch.export has and a decomposed one has not."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F


class Plain(nn.Module):
    """Gets x of shape [batch, 6, 8] and returns a loss beside its output."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.second = nn.Linear(8, 4)

    def forward(self, x, target):
        y = self.second(self.body(self.first(x)))
        return {"loss": F.mse_loss(y, target), "y": y}

    def body(self, x):
        return x

    @staticmethod
    def inputs(batch: int = 2) -> dict:
        generator = torch.Generator().manual_seed(batch)
        return {
            "x": torch.randn((batch, 6, 8), generator=generator),
            "target": torch.randn((batch, 6, 4), generator=generator),
        }


class SliceAssignment(Plain):
    """Writes through slices, places and views of views."""

    def body(self, x):
        shifted = x.new_zeros(x.shape)
        shifted[:, 1:] = x[:, :-1]
        shifted[:, 0] = 1.0
        shifted[..., ::2] *= 3.0
        rows = shifted.transpose(1, 2)
        rows[:, 2:4, 1] = x[:, 0, :2]
        shifted.narrow(1, 3, 3).add_(shifted.narrow(1, 0, 3))
        return shifted + rows.transpose(1, 2)


class InPlace(Plain):
    """Changes activations that gradients flow through."""

    def body(self, x):
        y = F.relu_(x * 2).clone()
        y += 1
        view = y.view(-1, 8)
        view.mul_(0.5).sub_(x.reshape(-1, 8))
        y.masked_fill_(x > 1.0, -2.0)
        y.clamp_(-1.5, 1.5).div_(2.0)
        mask = x > 0
        mask &= x < 1.0
        mask.logical_not_()
        return torch.where(mask, y.neg_(), y)


class GradientFree(Plain):
    """A factor without gradient, of parameters that have one elsewhere too."""

    def body(self, x):
        scale = torch.zeros_like(x)
        with torch.no_grad():
            factor = self.first(x).tanh()
            scale.copy_(x.sigmoid())
            with torch.enable_grad():
                inner = x.exp()
        return x * factor + self.first(x) * scale + inner.detach().sin() * x


class Autocast(Plain):
    """A region of narrow products, and a region inside that is not."""

    def body(self, x):
        with torch.autocast("cpu", torch.bfloat16):
            y = self.first(x)
            z = torch.matmul(y, y.transpose(1, 2))
            with torch.autocast("cpu", enabled=False):
                w = self.first(x)
            y = torch.softmax(z, -1) @ y
        return y.float() + w


class RawOperators(Plain):
    """Names that decompositions take to pieces."""

    def body(self, x):
        a, b = x.chunk(2, dim=-1)
        scores = torch.einsum("bqd,bkd->bqk", a, b)
        mixed = torch.einsum("bqk,bkd->bqd", scores.softmax(-1), b)
        c = torch.cat([a * F.leaky_relu(b), F.elu(a) + mixed], dim=-1)
        c = c.movedim(1, 2).swapaxes(1, 2).contiguous().view_as(x)
        c = c + torch.einsum("ij,bsj->bsi", self.first.weight, x).type_as(x)
        c = torch.addcmul(c, F.softplus(x), F.hardtanh(x), value=0.5)
        c = c.flip(1).roll(2, 1).narrow(1, 0, 6)
        c = F.mish(c) + F.glu(torch.cat([c, x], -1)) + F.hardswish(c)
        return F.dropout(c, 0.0).reshape_as(x) + F.logsigmoid(c).lerp(x, 0.25)


class ComposedOperators(Plain):
    """Operators that are made of others, where their pieces are delicate."""

    def __init__(self):
        super().__init__()
        self.slope = nn.PReLU(6, init=0.2)
        self.one_slope = nn.PReLU()
        self.groups = nn.GroupNorm(3, 6)
        self.along = nn.Conv1d(6, 6, 3, stride=1, padding=1, groups=2)
        self.same = nn.Conv1d(6, 6, 4, padding="same", dilation=2)
        nn.init.uniform_(self.groups.weight)
        nn.init.uniform_(self.groups.bias)

    def body(self, x):
        y = self.one_slope(self.slope(x)) + F.selu(x) * F.celu(x, alpha=0.7)
        y = y + x.std(-1, keepdim=True) - x.var(dim=(1, 2), unbiased=False)[:, None, None]
        y = y + F.normalize(torch.cat([x[:, :3] * 0.0, x[:, 3:]], 1), dim=-1)
        y = y + x.norm(p=1, dim=-1, keepdim=True) - x.logsumexp((1, 2), keepdim=True)
        hidden = torch.full_like(x, float("-inf")).tril(-3)
        y = y + (x + hidden).logsumexp(-1).unsqueeze(-1)
        y = y + self.groups(x) + self.along(x) * self.same(x)
        image = F.pixel_shuffle(x.view(-1, 12, 2, 2), 2)
        wide = F.interpolate(image, scale_factor=(2, 3), mode="nearest")
        long = F.interpolate(x, scale_factor=2)
        return y + wide[:, :, ::2, ::3].reshape_as(x) + long[..., 3:11]


class Infinities(Plain):
    def body(self, x):
        hidden = torch.ones(6, 6, dtype=torch.bool).triu(1)
        scores = (x @ x.mT).masked_fill(hidden, float("-inf"))
        return scores.softmax(-1) @ x


class Storages(Plain):
    """Parameters that are parts of storages, not contiguous, tied under three
    names, frozen, or without use."""

    def __init__(self):
        super().__init__()
        whole = torch.linspace(-1, 1, 128)
        self.front = nn.Parameter(whole[:64].view(8, 8))
        self.back = nn.Parameter(whole[64:].view(8, 8))
        self.turned = nn.Parameter(torch.linspace(0, 1, 64).view(8, 8).t())
        self.third = nn.Linear(8, 8, bias=False)
        self.fourth = nn.Linear(8, 8, bias=False)
        self.third.weight = self.first.weight
        self.fourth.weight = self.first.weight
        self.frozen = nn.Parameter(torch.full((8,), 0.5), requires_grad=False)
        self.unused = nn.Parameter(torch.ones(3))

    def body(self, x):
        y = self.fourth(self.third(x) @ self.front) @ self.back
        return self.third(y @ self.turned) * self.frozen


class TwoLosses(Plain):
    """The second is the one to train; one input and one output of no use."""

    def forward(self, x, answers, extra):
        y = self.second(self.first(x))
        unused = y.detach() * 2
        return F.l1_loss(y, answers), F.mse_loss(y, answers), unused

    @staticmethod
    def inputs(batch: int = 2) -> dict:
        x, target = Plain.inputs(batch).values()
        return {"x": x, "answers": target, "extra": torch.ones(batch, 3)}


class NextToken(nn.Module):
    """Labels are the tokens that follow; `shift` lets the model do that."""

    def __init__(self, shift: bool = False):
        super().__init__()
        self.embedding = nn.Embedding(16, 8)
        self.head = nn.Linear(8, 16)
        self.shift = shift

    def forward(self, tokens, labels):
        logits = self.head(self.embedding(tokens))
        if self.shift:
            labels = F.pad(labels, (0, 1), value=-100)[:, 1:]
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten())

    @staticmethod
    def inputs(batch: int = 2) -> dict:
        tokens = torch.arange(batch * 5).reshape(batch, 5) % 16
        return {"tokens": tokens, "labels": tokens.clone()}


class SmoothedLabels(NextToken):
    """Has tokens and labels, but no cross-entropy over them."""

    def forward(self, tokens, labels):
        wanted = labels.unsqueeze(-1) == torch.arange(16)
        return (self.head(self.embedding(tokens)) - wanted.float()).square().mean()


KINDS = [
    SliceAssignment,
    InPlace,
    GradientFree,
    RawOperators,
    ComposedOperators,
    Infinities,
    Storages,
]
