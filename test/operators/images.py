# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions and pooling."""

from __future__ import annotations

import torch
from cases import FLOATS, Case, Draw, type_of
from elementwise import gradient
from torch.nn import functional as F


class Windows:
    """What slides over an image that it fits into."""

    def __init__(self, draw: Draw, pool: bool = False):
        pair = lambda low, high: [draw.random.randint(low, high) for _ in range(2)]  # noqa: E731
        self.kernel, self.stride, self.dilation = pair(1, 3), pair(1, 3), pair(1, 2)
        limit = [k // 2 if pool else 2 for k in self.kernel]
        self.padding = [draw.random.randint(0, most) for most in limit]
        # A window holds a place of the image: to one that lies in the padding
        # PyTorch's pooling gives an index outside of the image.
        self.size = [
            max(d if pool else 1, d * (k - 1) + 1 - 2 * p) + draw.random.randint(0, 5)
            for k, d, p in zip(self.kernel, self.dilation, self.padding)
        ]

    def words(self, *names: str) -> str:
        return " ".join(f"{name} {getattr(self, name)}" for name in names)


def convolutions(draw: Draw):
    for dtype in FLOATS:
        for groups in (1, 2, 3):
            for biased in (False, True):
                windows = Windows(draw)
                batch, kernels, channels = draw.random.choice([0, 1, 2, 3]), groups * draw.random.randint(1, 2), draw.random.randint(1, 2)
                x = draw.floats([batch, groups * channels, *windows.size], dtype)
                w = draw.floats([kernels, channels, *windows.kernel], dtype)
                words = windows.words("stride", "padding", "dilation") + f" groups {groups}"

                def conv(x, w, b=None, v=windows, g=groups):
                    return F.conv2d(x, w, b, v.stride, v.padding, v.dilation, g)

                operands, bias = {"x": x, "w": w}, ""
                if biased:
                    operands["b"], bias = draw.floats([kernels], dtype), " bias %b : {b}"
                yield Case(f"%r = smp.conv2d %x, %w{bias} {words} : {{x}}, {{w}}", operands, conv, slack=4)
                if biased:
                    continue
                c = draw.floats(conv(x, w).shape, dtype)
                yield Case(
                    f"%r = smp.conv2d_input_grad %c, %w size {windows.size} {words} : {{c}}, {{w}}",
                    {"c": c, "w": w},
                    lambda c, w, f=conv, s=x.shape: gradient(lambda x: f(x, w), w.new_zeros(s), c)[0],
                    slack=4,
                )  # fmt: skip
                yield Case(
                    f"%r = smp.conv2d_weight_grad %c, %x kernel {windows.kernel} {words} : {{c}}, {{x}}",
                    {"c": c, "x": x},
                    lambda c, x, f=conv, s=w.shape: gradient(lambda w: f(x, w), x.new_zeros(s), c)[0],
                    slack=4,
                )  # fmt: skip


def place_in_window(windows: Windows, indices: torch.Tensor, width: int) -> torch.Tensor:
    """PyTorch's index in the image as smp's place in the window."""
    rows, columns = indices.shape[2:]
    top = torch.arange(rows).view(-1, 1) * windows.stride[0] - windows.padding[0]
    left = torch.arange(columns) * windows.stride[1] - windows.padding[1]
    row = (indices // width - top) // windows.dilation[0]
    column = (indices % width - left) // windows.dilation[1]
    return (row * windows.kernel[1] + column).to(torch.int32)


def pooling(draw: Draw):
    for dtype in FLOATS:
        for ceil in (False, True):
            for equal in (False, True):
                windows = Windows(draw, pool=True)
                shape = [draw.random.choice([0, 1, 2]), draw.random.choice([1, 3]), *windows.size]
                # Few different numbers: the first of equal ones is taken.
                x = draw.integers(shape, 0, 3).to(dtype) if equal else draw.floats(shape, dtype)
                words = windows.words("kernel", "stride", "padding", "dilation")

                def pool(x, v=windows, ceil=ceil):
                    return F.max_pool2d(
                        x, v.kernel, v.stride, v.padding, v.dilation, ceil, return_indices=True
                    )  # fmt: skip

                def values_and_places(x, f=pool, v=windows):
                    y, indices = f(x)
                    return {"r": y, "p": place_in_window(v, indices, x.shape[3])}

                word = " ceil" * ceil
                yield Case(f"%r, %p = smp.max_pool2d %x {words}{word} : {{x}}", {"x": x}, values_and_places)
                y = pool(x)[0]
                c = draw.floats(y.shape, dtype)
                yield Case(
                    f"%y, %p = smp.max_pool2d %x {words}{word} : {{x}}\n"
                    f"  %r = smp.max_pool2d_grad %c, %p size {windows.size} {words}"
                    f" : {{c}}, {{p}}",
                    {"x": x, "c": c}, lambda x, c, f=pool: gradient(lambda x: f(x)[0], x, c)[0],
                    slack=4, types={"p": type_of(y.to(torch.int32))},
                )  # fmt: skip
    special = torch.tensor([[1.0, float("nan"), 2.0], [float("-inf")] * 3, [0.0, 4.0, float("nan")]])
    x = special.repeat(2, 1)[None, None]
    yield Case(
        "%r, %p = smp.max_pool2d %x kernel [2, 2] stride [1, 1] padding [1, 1] dilation [1, 1] : {x}",
        {"x": x}, lambda x: {"r": F.max_pool2d(x, 2, 1, 1)},
    )  # fmt: skip


FAMILIES = [convolutions, pooling]
