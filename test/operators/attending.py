# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention with each kind of mask, and rotary embedding."""

from __future__ import annotations

import itertools

import torch
from cases import FLOATS, Case, Draw
from elementwise import gradient
from torch.nn import functional as F


def allowed(kind: str, numbers: list[int], queries: int, keys: int) -> torch.Tensor:
    """Which keys a query sees, as docs and transformers say it."""
    q, k = torch.arange(queries).view(-1, 1), torch.arange(keys)
    if kind == "causal":
        return k <= q
    if kind == "window":
        return (q - numbers[0] <= k) & (k <= q + numbers[1])
    if kind == "prefix":
        return (k <= q) | (k < numbers[0])
    return torch.ones(queries, keys, dtype=torch.bool)


class Attention:
    """One mask and bias, on heads of random sizes."""

    def __init__(self, draw: Draw, dtype, kind: str, biased: str):
        batch, groups, each = draw.random.choice([1, 2]), draw.random.choice([1, 2]), draw.random.choice([1, 3])
        queries, width, self.value_width = draw.random.choice([1, 4, 7]), draw.random.choice([1, 3, 8]), draw.random.choice([1, 5])
        # Queries that see no key give zeros.
        keys = draw.random.choice([1, 5, 7])
        heads = groups * each
        self.scale = round(draw.random.uniform(0.1, 1.5), 3)
        numbers = {"window": 2, "prefix": 1}.get(kind, 0)
        self.numbers = [draw.random.randint(0, 3) for _ in range(numbers)]
        self.mask = f"<{', '.join([kind, *map(str, self.numbers)])}>"
        self.seen = allowed(kind, self.numbers, queries, keys)
        self.grouped = each > 1
        self.operands = {
            "q": draw.floats([batch, heads, queries, width], dtype),
            "k": draw.floats([batch, groups, keys, width], dtype),
            "v": draw.floats([batch, groups, keys, self.value_width], dtype),
        }
        if biased:
            whole = [batch, heads, queries, keys]
            shape = [size if draw.random.random() < 0.6 else 1 for size in whole]
            self.operands["b"] = draw.floats(shape, dtype) if biased == "float" else draw.truths(shape)
        self.biased = biased
        self.word = " bias %b : {b}" * bool(biased)

    def bias(self, given, dtype) -> torch.Tensor:
        """All that is added to the scores."""
        none = torch.tensor(float("-inf"), dtype=dtype)
        bias = torch.zeros(self.seen.shape, dtype=dtype).masked_fill(~self.seen, none)
        if given and given[0].dtype == torch.bool:
            return torch.where(given[0], bias, none)
        return bias + given[0] if given else bias

    def attend(self, q, k, v, *given) -> torch.Tensor:
        bias = self.bias(given, q.dtype)
        return F.scaled_dot_product_attention(
            q, k, v, bias, scale=self.scale, enable_gqa=self.grouped
        )

    def log_sum_exp(self, q, k, v, *given) -> torch.Tensor:
        wide = [x.double() if x.is_floating_point() else x for x in (q, k, *given)]
        each = q.shape[1] // k.shape[1]
        scores = wide[0] @ wide[1].repeat_interleave(each, 1).mT * self.scale
        return (scores + self.bias(wide[2:], torch.float64)).logsumexp(-1).to(q.dtype)


def attentions(draw: Draw):
    for dtype in FLOATS:
        for kind, biased in itertools.product(
            ("none", "causal", "window", "prefix"), ("", "float", "bool")
        ):
            a = Attention(draw, dtype, kind, biased)
            types = ": {q}, {k}, {v}"

            def forward(*given, a=a):
                return {"r": a.attend(*given), "l": a.log_sum_exp(*given)}

            yield Case(
                f"%r, %l = smp.attention %q, %k, %v{a.word} {a.mask} scale {a.scale} {types}",
                a.operands, forward, slack=4, least=1,
            )  # fmt: skip
            if dtype not in FLOATS[:2]:
                continue
            c = draw.floats([*a.operands["q"].shape[:3], a.value_width], dtype)
            names = "qkv" + ("b" if biased == "float" else "")

            def backward(c, *given, a=a, names=names):
                def attend(*trained):
                    return a.attend(*trained, *given[len(names) :])

                found = gradient(attend, *given[: len(names)], c)
                return {f"d{name}": value for name, value in zip(names, found)}

            results = ", ".join(f"%d{name}" for name in names)
            wanted = " bias_gradient" * (biased == "float")
            yield Case(
                f"%r, %l = smp.attention %q, %k, %v{a.word} {a.mask} scale {a.scale} {types}\n"
                f"  {results} = smp.attention_grad %c, %q, %k, %v, %r, %l{a.word}{wanted}"
                f" {a.mask} scale {a.scale} {types}, {{c}}, {{l}}",
                {"c": c} | a.operands, backward, rounded=False, slack=4, least=1,
                types={"l": "tensor<" + "x".join(map(str, c.shape[:3])) + f"x{'f64' if dtype == torch.float64 else 'f32'}>"},
            )  # fmt: skip


def rotations(draw: Draw):
    for dtype in FLOATS:
        for rank in (2, 3, 4):
            *leading, length = draw.shape(rank - 1)
            width = draw.random.choice([2, 4, 6])
            x = draw.floats([*leading, length, width], dtype)
            angles = draw.floats([length, width // 2], torch.float64, -4, 4)
            cosine, sine = angles.cos().to(dtype), angles.sin().to(dtype)

            def rotate(x, cosine, sine):
                """As transformers' rotate_half."""
                low, high = x.chunk(2, -1)
                turned = torch.cat([-high, low], -1)
                return x * torch.cat([cosine] * 2, -1) + turned * torch.cat([sine] * 2, -1)

            yield Case(
                "%r = smp.rotary_embedding %x, %c, %s : {x}, {c}",
                {"x": x, "c": cosine, "s": sine}, rotate, slack=2,
            )  # fmt: skip


FAMILIES = [attentions, rotations]
