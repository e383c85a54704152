# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops whose result elements come from equal places of the operands."""

from __future__ import annotations

import operator

import torch
from cases import FLOATS, INTEGERS, Case, Draw
from torch.nn import functional as F

SPECIAL = [0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1.0, -2.5, 60.0, -60.0]

# The function, and the bounds of what it is given where it has a domain.
UNARY = {
    "exp": (torch.exp, -5, 5),
    "log": (torch.log, 0.01, 9),
    "sqrt": (torch.sqrt, 0, 9),
    "rsqrt": (torch.rsqrt, 0.1, 9),
    "sin": (torch.sin, -7, 7),
    "cos": (torch.cos, -7, 7),
    "tanh": (torch.tanh, -4, 4),
    "sigmoid": (torch.sigmoid, -9, 9),
    "relu": (F.relu, -2, 2),
    "silu": (F.silu, -9, 9),
    "gelu": (F.gelu, -5, 5),
    "neg": (torch.neg, -2, 2),
    "abs": (torch.abs, -2, 2),
}
BINARY = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
}
COMPARISONS = {
    "eq": torch.eq, "ne": torch.ne, "lt": torch.lt,
    "le": torch.le, "gt": torch.gt, "ge": torch.ge,
}  # fmt: skip


def unary(draw: Draw):
    for dtype in FLOATS:
        for name, (function, low, high) in UNARY.items():
            x = draw.floats(draw.shape(), dtype, low, high)
            yield Case(f"%r = smp.{name} %x : {{x}}", {"x": x}, function, least=1)
            special = torch.tensor(SPECIAL, dtype=dtype)
            if name == "gelu":
                # PyTorch's vectors make NaN of infinity, its scalars do not.
                special = special[special != float("inf")]
            yield Case(f"%r = smp.{name} %x : {{x}}", {"x": special}, function)
        x = draw.floats(draw.shape(), dtype, -5, 5)
        yield Case(
            "%r = smp.gelu %x form tanh : {x}", {"x": x},
            lambda x: F.gelu(x, approximate="tanh"), slack=2, least=1,
        )  # fmt: skip
        yield Case("%r = smp.stop_gradient %x : {x}", {"x": x}, torch.clone)
    for dtype in INTEGERS:
        least = torch.iinfo(dtype).min
        x = torch.cat([draw.of(dtype, [5]), torch.tensor([least], dtype=dtype)])
        yield Case("%r = smp.neg %x : {x}", {"x": x}, torch.neg)
        yield Case("%r = smp.abs %x : {x}", {"x": x}, torch.abs)
    x = draw.truths(draw.shape())
    yield Case("%r = smp.not %x : {x}", {"x": x}, torch.logical_not)


def binary(draw: Draw):
    for dtype in [*FLOATS, *INTEGERS]:
        for name, function in BINARY.items():
            shape = draw.shape()
            given = {"x": draw.of(dtype, shape), "y": draw.of(dtype, shape)}
            yield Case(f"%r = smp.{name} %x, %y : {{x}}", given, function)
    for dtype in FLOATS:
        x, y = torch.meshgrid(*[torch.tensor(SPECIAL, dtype=dtype)] * 2, indexing="ij")
        powers = torch.tensor([0.0, 1.0, 2.0, -1.0, 0.5, 3.0], dtype=dtype)
        base = draw.floats([5, 6], dtype, 0.1, 3)
        for name, function in (BINARY | {"div": operator.truediv}).items():
            yield Case(f"%r = smp.{name} %x, %y : {{x}}", {"x": x, "y": y}, function)
        yield Case("%r = smp.pow %x, %y : {x}", {"x": x, "y": y}, torch.pow)
        yield Case(
            "%e = smp.expand %y [1] : {y} -> {x}\n  %r = smp.pow %x, %e : {x}",
            {"x": base, "y": powers}, torch.pow,
        )  # fmt: skip
        shape = draw.shape()
        given = {"x": draw.floats(shape, dtype), "y": draw.floats(shape, dtype, 0.2, 3)}
        yield Case("%r = smp.div %x, %y : {x}", given, operator.truediv)
    for dtype in INTEGERS:
        bounds = torch.iinfo(dtype)
        x = torch.tensor([bounds.max, bounds.min, bounds.max, -1], dtype=dtype)
        y = torch.tensor([1, -1, bounds.max, bounds.min], dtype=dtype)
        for name, function in BINARY.items():
            yield Case(f"%r = smp.{name} %x, %y : {{x}}", {"x": x, "y": y}, function)


def logic(draw: Draw):
    for name, function in {"and": torch.logical_and, "or": torch.logical_or}.items():
        shape = draw.shape()
        given = {"x": draw.truths(shape), "y": draw.truths(shape)}
        yield Case(f"%r = smp.{name} %x, %y : {{x}}", given, function)
    for dtype in [*FLOATS, *INTEGERS, torch.bool, torch.uint8]:
        for name, function in COMPARISONS.items():
            shape = draw.shape()
            x, y = draw.of(dtype, shape), draw.of(dtype, shape)
            y = torch.where(draw.truths(shape), x, y)
            given = {"x": x, "y": y}
            yield Case(f"%r = smp.compare {name} %x, %y : {{x}}", given, function)
        shape = draw.shape()
        given = {"c": draw.truths(shape), "x": draw.of(dtype, shape), "y": draw.of(dtype, shape)}
        yield Case("%r = smp.select %c, %x, %y : {c}, {x}", given, torch.where)
    special = torch.tensor(SPECIAL, dtype=torch.float32)
    x, y = torch.meshgrid(special, special, indexing="ij")
    for name, function in COMPARISONS.items():
        yield Case(f"%r = smp.compare {name} %x, %y : {{x}}", {"x": x, "y": y}, function)


def casts(draw: Draw):
    """Between all types, of numbers that both hold."""
    types = [*FLOATS, *INTEGERS, torch.bool, torch.uint8]
    for source in types:
        for target in types:
            shape = draw.shape()
            if source == torch.float64 and target.is_floating_point:
                x = draw.floats(shape, source, -70000, 70000)
            elif torch.uint8 in (source, target) and source != torch.bool:
                x = draw.integers(shape, 0, 99, source)
            else:
                x = draw.of(source, shape) * (3 if source.is_floating_point else 1)
            yield Case(
                "%r = smp.cast %x : {x} -> {r}", {"x": x},
                lambda x, to=target: x.to(to),
                rounded=False,
            )  # fmt: skip
    wide = torch.tensor([2**40 + 7, -(2**33) - 1, 2**31, -129, 300], dtype=torch.int64)
    for target in (torch.int32, torch.uint8, torch.bool):
        yield Case("%r = smp.cast %x : {x} -> {r}", {"x": wide}, lambda x, to=target: x.to(to))
    special = torch.tensor([0.0, -0.0, 0.3, float("inf"), float("nan")])
    yield Case("%r = smp.cast %x : {x} -> {r}", {"x": special}, lambda x: x.to(torch.bool))


def broadcasting(draw: Draw):
    """PyTorch's implicit broadcasting is smp.expand of both operands."""
    for dtype in [*FLOATS, *INTEGERS]:
        for name, function in BINARY.items():
            shape = draw.shape(draw.random.randint(1, 4))
            given = {}
            for operand in "xy":
                rank = draw.random.randint(0, len(shape))
                sizes = shape[len(shape) - rank :]
                sizes = [size if draw.random.random() < 0.6 else 1 for size in sizes]
                given[operand] = draw.of(dtype, sizes)
            whole = torch.broadcast_shapes(*(value.shape for value in given.values()))
            lines = []
            for operand, value in given.items():
                dims = list(range(len(whole) - value.dim(), len(whole)))
                lines.append(f"%e{operand} = smp.expand %{operand} {dims} : {{{operand}}} -> {{r}}")
            lines.append(f"%r = smp.{name} %ex, %ey : {{r}}")
            yield Case("\n  ".join(lines), given, function)


def gradient(function, *operands):
    """The gradients of a function's result with this cotangent, last operand."""
    *inputs, cotangent = operands
    inputs = [value.detach().clone().requires_grad_() for value in inputs]
    return torch.autograd.grad(function(*inputs), inputs, cotangent)


def slopes(draw: Draw):
    for dtype in FLOATS:
        for text, function in {
            "silu_grad %x, %c": F.silu,
            "gelu_grad %x, %c": F.gelu,
            "gelu_grad %x, %c form tanh": lambda x: F.gelu(x, approximate="tanh"),
        }.items():
            shape = draw.shape()
            given = {"x": draw.floats(shape, dtype, -5, 5), "c": draw.floats(shape, dtype)}
            yield Case(
                f"%r = smp.{text} : {{x}}", given,
                lambda x, c, f=function: gradient(f, x, c)[0], slack=2, least=1,
            )  # fmt: skip


FAMILIES = [unary, binary, logic, casts, broadcasting, slopes]
