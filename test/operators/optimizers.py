# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Clipping and updates, against torch.optim."""

from __future__ import annotations

import torch
from cases import FLOATS, Case, Draw


def number(value: float) -> torch.Tensor:
    return torch.tensor(value, dtype=torch.float64)


def clipping(draw: Draw):
    for dtype in FLOATS:
        x = draw.floats(draw.shape(), dtype)
        yield Case(
            "%r = smp.sum_of_squares %x : {x}", {"x": x},
            lambda x: x.double().square().sum().view(1),
        )  # fmt: skip
    for squares in (0.0, 0.3, 1.0, 50.0, float("inf"), float("nan")):

        def factor(squares):
            """What torch.nn.utils.clip_grad_norm_ multiplies by."""
            parameter = torch.nn.Parameter(number(0.0))
            parameter.grad = squares.sqrt()
            torch.nn.utils.clip_grad_norm_([parameter], 0.7)
            if squares.isfinite() and squares > 0:
                return parameter.grad / squares.sqrt()
            return torch.clamp(0.7 / (squares.sqrt() + 1e-6), max=1.0)

        yield Case("%r = smp.clip_factor %x max 0.7", {"x": number(squares)}, factor)


def updates(draw: Draw):
    for dtype in FLOATS[:2]:
        shape, steps = draw.shape(empty=False), draw.random.randint(1, 9)
        p, g, m = (draw.floats(shape, dtype) for _ in range(3))
        v = draw.floats(shape, dtype, 0, 2)
        given = {"p": p, "g": g, "m": m, "v": v, "rate": number(0.01)}
        given |= {"c1": number(1 - 0.9**steps), "c2": number(1 - 0.95**steps), "s": number(0.5)}

        def adamw(p, g, m, v, rate, c1, c2, scale, steps=steps):
            parameter = torch.nn.Parameter(p.clone())
            optimizer = torch.optim.AdamW([parameter], rate.item(), (0.9, 0.95), 1e-8, 0.1)
            optimizer.state[parameter] = {
                "step": torch.tensor(steps - 1.0),
                "exp_avg": m.clone(),
                "exp_avg_sq": v.clone(),
            }
            parameter.grad = g * scale.to(g.dtype)
            optimizer.step()
            state = optimizer.state[parameter]
            return {"r": parameter, "a": state["exp_avg"], "q": state["exp_avg_sq"]}

        yield Case(
            "%r, %a, %q = smp.adamw %p, %g, %m, %v rate %rate corrections %c1, %c2 scale %s"
            " betas 0.9, 0.95 epsilon 1.0e-08 decay 0.1 : {p}", given, adamw,
        )  # fmt: skip
        for momentum in (0.0, 0.9):
            given = {"p": p, "g": g, "b": m, "rate": number(0.1)}

            def sgd(p, g, b, rate, momentum=momentum):
                parameter = torch.nn.Parameter(p.clone())
                optimizer = torch.optim.SGD([parameter], rate.item(), momentum, weight_decay=0.1)
                optimizer.state[parameter] = {"momentum_buffer": b.clone()}
                parameter.grad = g.clone()
                optimizer.step()
                return {"r": parameter}

            yield Case(
                f"%r, %n = smp.sgd %p, %g buffer %b : {{p}} rate %rate momentum {momentum} decay 0.1 : {{p}}",
                given, sgd,
            )  # fmt: skip


FAMILIES = [clipping, updates]
