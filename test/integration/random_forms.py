# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Forms of one or two tensors [rows, S, D] that give another, for random models.

A form is drawn once: it takes a source of choices and the sizes, and returns
the function. None makes numbers large, and all have a gradient almost
everywhere; what PyTorch decides at kinks (zeros that padding brings, equal
elements) is meant to come up.
"""

from __future__ import annotations

import torch
from torch.nn import functional as F

ACTIVATIONS = [
    torch.tanh, torch.sigmoid, F.relu, F.gelu, F.silu, F.elu, F.selu, F.softplus, F.mish,
    F.hardswish, F.hardsigmoid, F.hardtanh, F.relu6, F.logsigmoid, F.leaky_relu, F.celu,
    lambda x: F.gelu(x, approximate="tanh"),
    lambda x: F.softplus(x, beta=2.0, threshold=1.0),
    lambda x: F.leaky_relu(x, 0.2),
    lambda x: F.elu(x, 0.7), torch.abs, torch.sin, torch.cos,
    lambda x: x.square() / (1 + x.square()),
    lambda x: torch.exp(-x.abs()),
    lambda x: torch.log(x.abs() + 0.5),
    lambda x: torch.rsqrt(x * x + 0.3),
    lambda x: torch.sqrt(x.relu() + 0.1),
    lambda x: 1 / (2 + x.sigmoid()),
    lambda x: x.clamp(-0.5, 0.8),
    lambda x: x.clamp(min=-0.2),
    lambda x: x.clamp_max(0.4),
    lambda x: -x,
    lambda x: 0.5 - x,
    lambda x: (x.abs() + 0.1) ** 1.5,
    lambda x: 1.3 ** x.tanh(),
    lambda x: x.tanh() ** 3,
    lambda x: torch.reciprocal(x.abs() + 1),
]  # fmt: skip


def activation(r, s, d):
    form = r.choice(ACTIVATIONS)
    return lambda a, b: form(a)


def combination(r, s, d):
    return r.choice([
        lambda a, b: a + b,
        lambda a, b: a - b * 0.5,
        lambda a, b: a.tanh() * b,
        lambda a, b: torch.maximum(a, b),
        lambda a, b: torch.minimum(a, b * 0.5),
        lambda a, b: a / (b.square() + 1),
        lambda a, b: torch.lerp(a, b, 0.3),
        lambda a, b: torch.addcmul(a, a.tanh(), b, value=0.3),
        lambda a, b: torch.addcdiv(a, b, b.square() + 1, value=0.5),
        lambda a, b: torch.sub(a, b, alpha=0.25),
        lambda a, b: torch.add(a, b, alpha=-0.5),
        lambda a, b: F.glu(torch.cat([a, b], -1)),
        lambda a, b: a + F.mse_loss(a, b, reduction="none") * 0.1,
        lambda a, b: F.normalize(a + b, dim=-1),
        lambda a, b: torch.rsub(a, b),
    ])  # fmt: skip


def choice(r, s, d):
    c = r.uniform(-0.5, 0.5)
    return r.choice([
        lambda a, b: torch.where(a > b, a, b * 0.5),
        lambda a, b: torch.where(a >= c, a, c),
        lambda a, b: a.masked_fill(b < c, 0.3),
        lambda a, b: torch.where((a > c) & (b <= c), a, b),
        lambda a, b: torch.where((a < c) | ~(b > c), a, -b),
        lambda a, b: a * (b > c),
        lambda a, b: a + (b != a).float().type_as(a) * 0.2,
        lambda a, b: torch.max(a, a.new_full((), c)),
        lambda a, b: a.tril(-1) + b.triu(1),
        lambda a, b: torch.where(torch.arange(d) < 3, a, b),
    ])  # fmt: skip


def reduction(r, s, d):
    dim = r.choice([1, 2, -1, -2, (1, 2)])
    return r.choice([
        lambda a, b: a - a.mean(dim, keepdim=True),
        lambda a, b: a + b.sum(dim, keepdim=True) * 0.1,
        lambda a, b: a - a.amax(dim, keepdim=True),
        lambda a, b: a + b.logsumexp(dim, keepdim=True) * 0.3,
        lambda a, b: a * torch.rsqrt(a.square().mean(dim, keepdim=True) + 0.1),
        lambda a, b: a + a.var(dim, keepdim=True, unbiased=False) * 0.2,
        lambda a, b: a + (b + 0.01 * torch.arange(d)).std(dim, keepdim=True) * 0.2,
        lambda a, b: b.sum((1, 2))[:, None, None] * 0.05 + a,
        lambda a, b: a + b.norm(dim=-1, keepdim=True) * 0.1,
        lambda a, b: b.mean(1).unsqueeze(1).expand_as(a) * a,
        lambda a, b: b.mean(-1)[..., None].expand(-1, -1, d) + a,
        lambda a, b: a + b.amax((1, 2)).view(-1, 1, 1) * 0.2,
        lambda a, b: a - b.amin(-1, keepdim=True) * 0.1,
    ])  # fmt: skip


def along(r, s, d):
    dim = r.choice([1, 2])
    return r.choice([
        lambda a, b: a.cumsum(dim) * 0.3,
        lambda a, b: a.softmax(dim) * b,
        lambda a, b: b.log_softmax(dim) * 0.2 + a,
        lambda a, b: (a.transpose(1, 2) @ b).softmax(-1)[:, :2].sum(1, keepdim=True) + a,
        lambda a, b: a @ torch.softmax(a.mT @ b, -1),
        lambda a, b: torch.bmm((a @ b.transpose(1, 2)) / d, a),
        lambda a, b: torch.einsum("bqk,bkd->bqd", torch.einsum("bqd,bkd->bqk", a, b), b).tanh(),
        lambda a, b: torch.diff(F.pad(a, (1, 0)), dim=-1) * 0.5 + b,
        lambda a, b: a.softmax(1) + b.softmax(-1),
    ])  # fmt: skip


def move(r, s, d):
    k = r.randrange(1, min(s, d))
    index = torch.tensor([r.randrange(d) for _ in range(d)])
    places = torch.tensor([r.randrange(s) for _ in range(s)])
    return r.choice([
        lambda a, b: torch.cat([a[:, k:], b[:, :k]], 1),
        lambda a, b: torch.cat([b[..., k:], a[..., :k]], -1),
        lambda a, b: F.pad(a[:, k:], (0, 0, k, 0)),
        lambda a, b: F.pad(a, (k, 0))[..., :d] + b,
        lambda a, b: F.pad(a, (-k, k), value=0.5),
        lambda a, b: a.flip(1) + b.flip(-1),
        lambda a, b: a.roll(k, 1),
        lambda a, b: a.roll(-k, 2) * b.tanh(),
        lambda a, b: a.transpose(1, 2).reshape(-1, s, d),
        lambda a, b: a.transpose(1, 2).contiguous().view(a.shape),
        lambda a, b: a.permute(2, 1, 0).tanh().permute(2, 1, 0),
        lambda a, b: a[..., index],
        lambda a, b: a.index_select(1, places),
        lambda a, b: a[:, places] + b,
        lambda a, b: a[:, places, :][..., index],
        lambda a, b: a[..., index - d] + b[:, -1 - places],
        lambda a, b: a[:, places[:2, None], index].mean(1, keepdim=True) + b,
        lambda a, b: torch.gather(a, 1, (b > 0).long() * k),
        lambda a, b: a[:, ::2].repeat_interleave(2, 1)[:, :s],
        lambda a, b: a[:, -1:].expand(-1, s, -1) + b,
        lambda a, b: a[:, k].unsqueeze(1).repeat(1, s, 1),
        lambda a, b: torch.stack([a, b], 1)[:, 1],
        lambda a, b: torch.stack(a.unbind(1)[::-1], 1),
        lambda a, b: torch.stack([a, b], -1).flatten(2)[..., :d],
        lambda a, b: torch.cat(b.split(k, 1)[::-1], 1),
        lambda a, b: torch.cat([c * (i + 1) * 0.3 for i, c in enumerate(a.chunk(2, -1))], -1),
        lambda a, b: a.reshape(-1, d).view_as(a),
        lambda a, b: a.flatten(1).unflatten(1, (s, d)),
        lambda a, b: a.reshape(-1, s * d)[:, :d].unsqueeze(1) + b,
        lambda a, b: F.interpolate(a, scale_factor=2)[..., :d],
        lambda a, b: a.narrow(1, k, 1) * b,
        lambda a, b: a.movedim(1, 0).movedim(0, 1),
    ])  # fmt: skip


def change(r, s, d):
    """Changes in place and parts written."""
    k = r.randrange(1, min(s, d))

    def slices(a, b):
        y = a.clone()
        y[:, k:] = b[:, k:] * 0.5
        y[..., 0] += 1
        return y

    def fresh(a, b):
        y = torch.zeros_like(a)
        y[:, :k] = a[:, -k:]
        y[:, -1] = 0.25
        return y + b

    def steps(a, b):
        y = a * 1
        y.mul_(0.5).add_(b, alpha=0.3).clamp_(-2, 2)
        view = y.view(-1, d)
        view[:, k] = -view[:, k]
        return y

    def masked(a, b):
        y = a + 0
        y.masked_fill_(b > 0.3, 0.1)
        return y.sub_(b.mean(1, keepdim=True))

    return r.choice([slices, fresh, steps, masked])


def stop(r, s, d):
    def without(a, b):
        with torch.no_grad():
            scale = a.tanh()
        return b * scale

    return r.choice([
        without,
        lambda a, b: a.detach() * 0.5 + b,
        lambda a, b: a - a.amax(-1, keepdim=True).detach(),
        lambda a, b: a + (b - a).detach(),
        lambda a, b: a * b.std(dim=-1, keepdim=True).detach(),
    ])  # fmt: skip


def broadcast(r, s, d):
    return r.choice([
        lambda a, b: a * torch.linspace(0.5, 1.5, d),
        lambda a, b: a + torch.arange(s)[:, None] * 0.1,
        lambda a, b: a * torch.tensor(0.7),
        lambda a, b: (a * 3 - 1) / 2,
        lambda a, b: a + torch.ones(s, 1) * b[:, :1],
        lambda a, b: a[:, :, None].mul(b[:, None]).mean(2),
        lambda a, b: a + b[:, :1, :1],
        lambda a, b: a.unsqueeze(2).expand(-1, -1, 3, -1).sum(2) * 0.3,
        lambda a, b: a.view(-1, s, 1, d).squeeze(2),
        lambda a, b: torch.full((s, d), 0.3) * a,
        lambda a, b: a * a.shape[1] / (a.shape[-1] + 1),
    ])  # fmt: skip


def over_rows(r, s, d):
    """Samples of a microbatch that change each other."""
    return r.choice([
        lambda a, b: a - b.mean(),
        lambda a, b: a - a.sum(0, keepdim=True) * 0.1,
        lambda a, b: a + b.sum() * 0.01,
        lambda a, b: a - b.amax() * 0.1,
        lambda a, b: a[torch.arange(a.shape[0]), (b[:, 0, 0] > 0).long()].unsqueeze(1) + b,
        lambda a, b: a.softmax(0) * b,
        lambda a, b: a + F.mse_loss(a, b) * 0.2,
        lambda a, b: a.cumsum(0) * 0.3,
        lambda a, b: a * b.square().mean().sqrt(),
        lambda a, b: a + torch.einsum("isd,jsd->ij", a, b).softmax(-1).sum(0).view(-1, 1, 1) * 0.1,
        lambda a, b: a * (b.abs().sum() / b.shape[0]) * 0.05,
    ])  # fmt: skip


FAMILIES = [
    activation, activation, combination, choice, reduction, along, move, move, change,
    stop, broadcast,
]  # fmt: skip
