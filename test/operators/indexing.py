# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elements chosen by integers, and losses of labels."""

from __future__ import annotations

import torch
from cases import FLOATS, INTEGERS, Case, Draw
from elementwise import gradient
from torch.nn import functional as F


def tables(draw: Draw):
    for dtype in FLOATS:
        for index in INTEGERS:
            rows, width = draw.random.randint(1, 6), draw.random.choice([1, 3, 4, 0])
            table = draw.floats([rows, width], dtype)
            i = draw.integers(draw.shape(draw.random.randint(0, 3)), 0, rows, index)
            yield Case("%r = smp.embedding %t, %i : {t}, {i}", {"t": table, "i": i}, lambda t, i: F.embedding(i, t))
            c = draw.floats([*i.shape, width], dtype)
            yield Case(
                f"%r = smp.embedding_grad %c, %i rows {rows} : {{c}}, {{i}}", {"c": c, "i": i},
                lambda c, i, s=table.shape: gradient(lambda t: F.embedding(i, t), c.new_zeros(s), c)[0],
                slack=4,
            )  # fmt: skip


def gathers(draw: Draw):
    for dtype in [*FLOATS, *INTEGERS, torch.bool, torch.uint8]:
        x = draw.of(dtype, draw.shape(draw.random.randint(1, 4), empty=False))
        dim = draw.random.randrange(x.dim())
        shape = list(x.shape)
        shape[dim] = draw.random.choice([0, 1, 3, 6])
        index = draw.random.choice(INTEGERS)
        i = draw.integers(shape, 0, x.shape[dim], index)
        yield Case(
            f"%r = smp.gather %x, %i, {dim} : {{x}}, {{i}}", {"x": x, "i": i},
            lambda x, i, d=dim: x.gather(d, i.long()),
        )  # fmt: skip
        if dtype.is_floating_point:
            c = draw.floats(shape, dtype)
            yield Case(
                f"%r = smp.gather_grad %c, %i, {dim} extent {x.shape[dim]} : {{c}}, {{i}}", {"c": c, "i": i},
                lambda c, i, d=dim, s=x.shape: c.new_zeros(s).scatter_add(d, i.long(), c), slack=4,
            )  # fmt: skip
        indexed = draw.random.randint(1, x.dim())
        shape = draw.shape(draw.random.randint(0, 3))
        chosen = {f"i{n}": draw.integers(shape, 0, x.shape[n], index) for n in range(indexed)}
        names = ", ".join(f"%{name}" for name in chosen)
        types = ", ".join(f"{{{name}}}" for name in chosen)
        yield Case(
            f"%r = smp.index %x[{names}] : {{x}}, {types}", {"x": x} | chosen,
            lambda x, *i: x[tuple(one.long() for one in i)],
        )  # fmt: skip


def losses(draw: Draw):
    for dtype in FLOATS:
        for index in INTEGERS:
            for ignored in (-100, 1, 0):
                rows, classes = draw.random.choice([0, 1, 4, 7]), draw.random.choice([1, 2, 5])
                x = draw.floats([rows, classes], dtype, -9, 9)
                y = draw.integers([rows], 0, classes, index)
                y = torch.where(draw.truths([rows]), y, torch.tensor(ignored, dtype=index))
                if draw.random.random() < 0.2:
                    y = torch.full_like(y, ignored)

                def entropy(x, y, ignored=ignored):
                    total = F.cross_entropy(x, y.long(), ignore_index=ignored, reduction="sum")
                    return {"s": total, "n": (y != ignored).sum(), "l": torch.logsumexp(x, 1)}

                yield Case(
                    f"%s, %n, %l = smp.cross_entropy %x, %y ignore {ignored} : {{x}}, {{y}}",
                    {"x": x, "y": y}, entropy, least=9,
                )  # fmt: skip
                c = draw.floats([], dtype)
                yield Case(
                    f"%s, %n, %l = smp.cross_entropy %x, %y ignore {ignored} : {{x}}, {{y}}\n"
                    f"  %r = smp.cross_entropy_grad %c, %x, %y, %l ignore {ignored}"
                    " : {x}, {y}, {l}, {c}",
                    {"x": x, "y": y, "c": c},
                    lambda x, y, c, f=entropy: {
                        "r": gradient(lambda x: f(x, y)["s"], x, c)[0], "l": torch.logsumexp(x, 1),
                    }, rounded=False, least=9,
                )  # fmt: skip
                yield Case(
                    f"%n = smp.label_count %y ignore {ignored} : {{y}}", {"y": y},
                    lambda y, ignored=ignored: {"n": (y != ignored).sum()},
                )  # fmt: skip

                def mean(x, y, ignored=ignored):
                    if (y == ignored).all():
                        return x.new_zeros(())
                    return F.cross_entropy(x, y.long(), ignore_index=ignored)

                yield Case(
                    f"%s, %n, %l = smp.cross_entropy %x, %y ignore {ignored} : {{x}}, {{y}}\n"
                    '  %r = smp.mean_loss "loss" %s by %n : {r}',
                    {"x": x, "y": y}, mean, rounded=False, least=9,
                )  # fmt: skip


FAMILIES = [tables, gathers, losses]
