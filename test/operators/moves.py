# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constants, sizes, and ops that move elements."""

from __future__ import annotations

import math

import torch
from cases import FLOATS, INTEGERS, NAMES, Case, Draw
from torch.nn import functional as F

TYPES = [*FLOATS, *INTEGERS, torch.bool, torch.uint8]


def literal(tensor: torch.Tensor) -> str:
    """The elements as the text of a dense attribute."""
    if tensor.dim():
        return "[" + ", ".join(literal(part) for part in tensor) + "]"
    if tensor.dtype == torch.bool:
        return "true" if tensor else "false"
    value = tensor.item()
    return f"{value:.17e}" if tensor.is_floating_point() else str(value)


def constants(draw: Draw):
    for dtype in TYPES:
        shape = draw.shape(empty=False)
        value = draw.of(dtype, shape)
        yield Case(
            f"%r = smp.constant dense<{literal(value)}> : {{r}}", {},
            lambda v=value: v.contiguous().clone(),
        )  # fmt: skip
        number = 1.0 if dtype == torch.bool else 0.1 if dtype.is_floating_point else 7.0
        yield Case(
            f"%r = smp.fill {number!r} : {{r}}", {},
            lambda s=draw.shape(), v=number, d=dtype: torch.full(s, v, dtype=torch.float64).to(d),
            rounded=False,
        )  # fmt: skip
        if dtype == torch.bool or dtype == torch.uint8:
            continue
        shape = draw.shape(draw.random.randint(1, 4))
        dim = draw.random.randrange(len(shape))

        def iota(shape=shape, dim=dim, dtype=dtype):
            along = [1] * len(shape)
            along[dim] = shape[dim]
            return torch.arange(shape[dim], dtype=dtype).view(along).expand(shape)

        yield Case(f"%r = smp.iota {dim} : {{r}}", {}, iota)


def sizes(draw: Draw):
    for dtype in FLOATS:
        x = draw.of(dtype, draw.shape(draw.random.randint(1, 4)))
        dim = draw.random.randrange(x.dim())
        yield Case(
            f"%n = smp.dim %x, {dim} : {{x}}\n  %r = smp.fill 2.5 [%n] : {{r}}", {"x": x},
            lambda x, d=dim: torch.full((x.size(d), 3), 2.5, dtype=x.dtype),
            types={"r": f"tensor<?x3x{NAMES[dtype]}>"},
        )  # fmt: skip
        yield Case(
            f"%n = smp.dim %x, {dim} : {{x}}\n  %r = smp.iota 1 [%n] : {{r}}", {"x": x},
            lambda x, d=dim: torch.arange(x.size(d), dtype=x.dtype).expand(2, -1),
            types={"r": f"tensor<2x?x{NAMES[dtype]}>"},
        )  # fmt: skip


def shapes(draw: Draw):
    for dtype in TYPES:
        x = draw.of(dtype, draw.shape())
        whole = [*draw.shape(2), *[n if n != 1 else draw.random.choice([1, 4]) for n in x.shape]]
        dims = list(range(2, len(whole)))
        yield Case(f"%r = smp.expand %x {dims} : {{x}} -> {{r}}", {"x": x}, lambda x, s=whole: x.expand(s))
        x = draw.of(dtype, [3, 1])
        yield Case(
            "%r = smp.expand %x [0, 2] : {x} -> {r}", {"x": x},
            lambda x: x.unsqueeze(1).expand(3, 4, 5),
        )  # fmt: skip
        x = draw.of(dtype, draw.shape())
        order = list(x.shape) + [1]
        draw.random.shuffle(order)
        for shape in (order, [math.prod(x.shape)]):
            yield Case("%r = smp.reshape %x : {x} -> {r}", {"x": x}, lambda x, s=shape: x.reshape(s))
        order = list(range(x.dim()))
        draw.random.shuffle(order)
        yield Case(f"%r = smp.transpose %x {order} : {{x}} -> {{r}}", {"x": x}, lambda x, o=order: x.permute(o))


def cuts(draw: Draw):
    for dtype in TYPES:
        x = draw.of(dtype, draw.shape(draw.random.randint(1, 4)))
        dim = draw.random.randrange(x.dim())
        start = draw.random.randint(0, x.shape[dim])
        stop = draw.random.randint(start, x.shape[dim])
        step = draw.random.randint(1, 4)
        bounds = f"[{start} : {stop} : {step}]"

        def cut(x, d=dim, start=start, stop=stop, step=step):
            return x[(slice(None),) * d + (slice(start, stop, step),)]

        yield Case(f"%r = smp.slice %x, {dim} {bounds} : {{x}} -> {{r}}", {"x": x}, cut)
        x = draw.of(dtype, draw.shape(3))
        dim, low, high = (draw.random.randint(0, 2) for _ in range(3))
        value = -1.5 if dtype.is_floating_point else 1.0
        sides = [0, 0] * (2 - dim) + [low, high]
        yield Case(
            f"%r = smp.pad %x, {dim} low {low} high {high} with {value!r} : {{x}} -> {{r}}", {"x": x},
            lambda x, s=sides, v=value: F.pad(x, s, value=v),
        )  # fmt: skip
        interior = draw.random.randint(1, 3)

        def spread(x, d=dim, low=low, high=high, interior=interior, value=value):
            count = x.shape[d]
            shape = list(x.shape)
            shape[d] = low + (count + (count - 1) * interior if count else 0) + high
            result = torch.full(shape, value).to(x.dtype)
            if count:
                places = low + torch.arange(count) * (interior + 1)
                result = result.index_copy(d, places, x)
            return result

        yield Case(
            f"%r = smp.pad %x, {dim} low {low} high {high} interior {interior} with {value!r} : {{x}} -> {{r}}",
            {"x": x}, spread,
        )  # fmt: skip
        parts = {}
        for name in "xyz"[: draw.random.randint(1, 3)]:
            shape = list(x.shape)
            shape[dim] = draw.random.randint(0, 3)
            parts[name] = draw.of(dtype, shape)
        names = ", ".join(f"%{name}" for name in parts)
        types = ", ".join(f"{{{name}}}" for name in parts)
        yield Case(
            f"%r = smp.concat {names} dim {dim} : ({types}) -> {{r}}", parts,
            lambda *parts, d=dim: torch.cat(parts, d),
        )  # fmt: skip


FAMILIES = [constants, sizes, shapes, cuts]
