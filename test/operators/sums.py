# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions, products, and normalisations of rows and channels."""

from __future__ import annotations

import torch
from cases import FLOATS, INTEGERS, Case, Draw
from elementwise import gradient
from torch.nn import functional as F


def reductions(draw: Draw):
    for dtype in [*FLOATS, *INTEGERS]:
        for rank in (0, 1, 2, 3, 4):
            x = draw.of(dtype, draw.shape(rank))
            dims = draw.dims(rank)
            yield Case(
                f"%r = smp.reduce_sum %x {dims} : {{x}} -> {{r}}", {"x": x},
                # PyTorch takes no dims for all.
                lambda x, d=dims: x.sum(d, dtype=x.dtype) if d else x.clone(), slack=4,
            )  # fmt: skip
            x = draw.of(dtype, draw.shape(rank, empty=False))
            yield Case(
                f"%r = smp.reduce_max %x {dims} : {{x}} -> {{r}}", {"x": x},
                lambda x, d=dims: x.amax(d) if d else x.clone(),
            )  # fmt: skip
            if rank == 0:
                continue
            x = draw.of(dtype, draw.shape(rank))
            dim = draw.random.randrange(rank)
            for word in ("", " reverse"):

                def running(x, d=dim, back=bool(word)):
                    sums = (x.flip(d) if back else x).cumsum(d, dtype=x.dtype)
                    return sums.flip(d) if back else sums

                yield Case(f"%r = smp.cumsum %x, {dim}{word} : {{x}}", {"x": x}, running, slack=4)
    special = torch.tensor([[1.0, float("nan"), 3.0], [float("-inf")] * 3, [2.0, float("inf"), 0.0]])
    yield Case("%r = smp.reduce_max %x [1] : {x} -> {r}", {"x": special}, lambda x: x.amax(1))
    yield Case("%r = smp.reduce_sum %x [1] : {x} -> {r}", {"x": special}, lambda x: x.sum(1))
    for dtype in INTEGERS:
        x = torch.tensor([torch.iinfo(dtype).max, 5, torch.iinfo(dtype).min], dtype=dtype)
        yield Case("%r = smp.reduce_sum %x [0] : {x} -> {r}", {"x": x}, lambda x: x.sum(0, dtype=x.dtype))
        yield Case("%r = smp.reduce_max %x [0] : {x} -> {r}", {"x": x}, lambda x: x.amax(0))
        yield Case("%r = smp.cumsum %x, 0 : {x}", {"x": x}, lambda x: x.cumsum(0, dtype=x.dtype))


def products(draw: Draw):
    for dtype in FLOATS:
        for _ in range(3):
            *rows, k, n = draw.shape(draw.random.randint(2, 5))
            x, w = draw.floats([*rows, k], dtype), draw.floats([n, k], dtype)
            c = draw.floats([*rows, n], dtype)
            yield Case("%r = smp.linear %x, %w : {x}, {w}", {"x": x, "w": w}, F.linear, slack=2)
            turned = draw.laid_out(w.t().clone())
            yield Case(
                "%r = smp.linear %x, %w transposed : {x}, {w}", {"x": x, "w": turned},
                torch.matmul, slack=2,
            )  # fmt: skip

            def slope(c, x, shape=(n, k), back=False):
                w = torch.zeros(shape[::-1] if back else shape, dtype=x.dtype)
                product = torch.matmul if back else F.linear
                return gradient(lambda w: product(x, w), w, c)[0]

            given = {"c": c, "x": x}
            for word, back in (("", False), (" transposed", True)):
                yield Case(
                    f"%r = smp.linear_weight_grad %c, %x{word} : {{c}}, {{x}}", given,
                    lambda c, x, f=slope, b=back: f(c, x, back=b), slack=4,
                )  # fmt: skip
        for left in (False, True):
            for right in (False, True):
                *leading, m, k, n = draw.shape(draw.random.randint(3, 5))
                a = draw.floats([*leading, k, m] if left else [*leading, m, k], dtype)
                b = draw.floats([*leading, n, k] if right else [*leading, k, n], dtype)
                words = " T" * left, " T" * right
                yield Case(
                    f"%r = smp.batch_matmul %a{words[0]}, %b{words[1]} : {{a}}, {{b}}", {"a": a, "b": b},
                    lambda a, b, p=left, q=right: torch.matmul(a.mT if p else a, b.mT if q else b),
                    slack=2,
                )  # fmt: skip


def norms(draw: Draw):
    for dtype in FLOATS:
        for given in ("", "w", "b", "wb"):
            shape = draw.shape(draw.random.randint(1, 4))
            # One column has no deviation: only epsilon is left of it.
            shape[-1] = draw.random.choice([1, 2, 5, 8])
            operands = {"x": draw.floats(shape, dtype)}
            operands |= {name: draw.floats([shape[-1]], dtype) for name in given}
            words = "".join(f" {word} %{word[0]} : {{{word[0]}}}" for word in ("weight", "bias") if word[0] in given)

            def layer_norm(x, *rest, given=given):
                named = dict(zip(given, rest))
                y = F.layer_norm(x, x.shape[-1:], named.get("w"), named.get("b"), 1e-3)
                wide = x.double()
                mean = wide.mean(-1, keepdim=True)
                variance, mean = (wide - mean).square().mean(-1), mean[..., 0]
                return {"r": y, "m": mean.to(x.dtype), "s": (variance + 1e-3).rsqrt().to(x.dtype)}

            yield Case(f"%r, %m, %s = smp.layer_norm %x{words} epsilon 1.0e-03 : {{x}}", operands, layer_norm, slack=2, least=1)
            if given in ("", "w"):

                def rms_norm(x, weight=None):
                    y = F.rms_norm(x, x.shape[-1:], weight, 1e-3)
                    squares = x.double().square().mean(-1)
                    return {"r": y, "s": (squares + 1e-3).rsqrt().to(x.dtype)}

                yield Case(f"%r, %s = smp.rms_norm %x{words} epsilon 1.0e-03 : {{x}}", operands, rms_norm, slack=2, least=1)
        x = draw.floats(draw.shape(draw.random.randint(1, 4)), dtype, -9, 9)
        yield Case("%r = smp.softmax %x : {x}", {"x": x}, lambda x: x.softmax(-1), slack=2)
    hidden = torch.tensor([[0.0, float("-inf"), 2.0], [float("-inf")] * 3, [float("nan"), 0.0, 1.0]])
    yield Case("%r = smp.softmax %x : {x}", {"x": hidden}, lambda x: x.softmax(-1))


def norm_gradients(draw: Draw):
    """Statistics are given as the forward rounds them, so narrow types are
    compared with PyTorch's own kernels only."""
    for dtype in FLOATS[:2]:
        for weighted in (False, True):
            shape = [*draw.shape(draw.random.randint(0, 3)), draw.random.choice([2, 5, 8])]
            x = draw.floats(shape, dtype)
            operands = {"c": draw.floats(shape, dtype), "x": x}
            if weighted:
                operands["w"] = draw.floats(shape[-1:], dtype)
            wide = x.double()
            word = " weight %w : {w}" * weighted
            mean, rstd = wide.mean(-1), (wide.var(-1, correction=0) + 1e-3).rsqrt()

            def layer_slopes(c, x, *rest):
                weight = rest[0] if len(rest) == 3 else x.new_ones(x.shape[-1])
                norm = lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b, 1e-3)  # noqa: E731
                return dict(zip("rvb", gradient(norm, x, weight, torch.zeros_like(weight), c)))

            yield Case(
                f"%r, %v, %b = smp.layer_norm_grad %c, %x{word} mean %m rstd %s : {{x}}, {{m}}",
                operands | {"m": mean.to(dtype), "s": rstd.to(dtype)}, layer_slopes,
                rounded=False, slack=2, least=1,
            )  # fmt: skip

            def rms_slopes(c, x, *rest):
                weight = rest[0] if len(rest) == 2 else x.new_ones(x.shape[-1])
                norm = lambda x, w: F.rms_norm(x, x.shape[-1:], w, 1e-3)  # noqa: E731
                return dict(zip("rv", gradient(norm, x, weight, c)))

            rstd = (wide.square().mean(-1) + 1e-3).rsqrt()
            yield Case(
                f"%r, %v = smp.rms_norm_grad %c, %x{word} rstd %s : {{x}}, {{s}}",
                operands | {"s": rstd.to(dtype)}, rms_slopes, rounded=False, slack=2, least=1,
            )  # fmt: skip
        y = draw.floats(draw.shape(draw.random.randint(1, 3)), dtype, -3, 3)
        c = draw.floats(y.shape, dtype)
        yield Case(
            "%y = smp.softmax %x : {x}\n  %r = smp.softmax_grad %c, %y : {x}", {"c": c, "x": y},
            lambda c, x: gradient(lambda x: x.softmax(-1), x, c)[0], rounded=False, slack=2, least=1,
        )  # fmt: skip


def mixed_norms(draw: Draw):
    """Narrow activations with weights and averages in f32."""
    single = torch.float32
    for dtype in FLOATS[2:]:
        x, width = draw.floats([4, 5, 3], dtype), 3
        w, b = draw.floats([width], single), draw.floats([width], single)
        yield Case(
            "%r, %m, %s = smp.layer_norm %x weight %w : {w} bias %b : {w} epsilon 1.0e-03 : {x}",
            {"x": x, "w": w, "b": b}, lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b, 1e-3),
        )  # fmt: skip
        x = draw.floats([6, width, 4], dtype)
        p, q = draw.floats([width], single), draw.floats([width], single, 0.5, 2)

        def norm(x, w, b, p, q, train):
            p, q = p.clone(), q.clone()
            return {"r": F.batch_norm(x, p, q, w, b, train, 0.1, 1e-3), "n": p, "v": q}

        given = {"x": x, "w": w, "b": b, "p": p, "q": q}
        words = "%x weight %w : {w} bias %b : {w} running %p, %q"
        yield Case(
            f"%r, %m, %s, %n, %v = smp.batch_norm {words} momentum 0.1 epsilon 1.0e-03 : {{x}}, {{p}}",
            given, lambda *given: norm(*given, True), rounded=False,
        )  # fmt: skip
        yield Case(
            f"%r = smp.batch_norm_inference {words} epsilon 1.0e-03 : {{x}}, {{p}}",
            given, lambda *given: {"r": norm(*given, False)["r"]}, rounded=False,
        )  # fmt: skip


def batch_norms(draw: Draw):
    for dtype in FLOATS:
        for given in ("", "w", "b", "wb"):
            shape = draw.shape(draw.random.randint(2, 4), empty=False)
            shape[0] += 1
            channels = shape[1:2]
            operands = {"x": draw.floats(shape, dtype)}
            operands |= {name: draw.floats(channels, dtype) for name in given}
            operands |= {"p": draw.floats(channels, dtype), "q": draw.floats(channels, dtype, 0.5, 2)}
            words = "".join(f" {word} %{word[0]} : {{{word[0]}}}" for word in ("weight", "bias") if word[0] in given)

            def train(x, *rest, given=given):
                named = dict(zip(given + "pq", rest))
                mean, variance = named["p"].clone(), named["q"].clone()
                y = F.batch_norm(x, mean, variance, named.get("w"), named.get("b"), True, 0.2, 1e-3)
                rows = x.double().transpose(0, 1).flatten(1)
                rstd = (rows.var(1, correction=0) + 1e-3).rsqrt()
                return {"r": y, "m": rows.mean(1).to(x.dtype), "s": rstd.to(x.dtype), "n": mean, "v": variance}

            def infer(x, *rest, given=given):
                named = dict(zip(given + "pq", rest))
                return F.batch_norm(x, named["p"], named["q"], named.get("w"), named.get("b"), False, 0, 1e-3)

            yield Case(
                f"%r, %m, %s, %n, %v = smp.batch_norm %x{words} running %p, %q momentum 0.2 epsilon 1.0e-03"
                " : {x}, {p}", operands, train, slack=8, least=1,
            )  # fmt: skip
            yield Case(
                f"%r = smp.batch_norm_inference %x{words} running %p, %q epsilon 1.0e-03 : {{x}}, {{p}}",
                operands, infer, slack=2, least=1,
            )  # fmt: skip
            if dtype not in FLOATS[:2] or "b" in given:
                continue
            operands = {"c": draw.floats(shape, dtype)} | {n: v for n, v in operands.items() if n in "xw"}

            def slopes(c, x, weight=None):
                weight = x.new_ones(x.shape[1]) if weight is None else weight
                norm = lambda x, w, b: F.batch_norm(x, None, None, w, b, True, 0, 1e-3)  # noqa: E731
                # PyTorch's kernel mixes up the places of operands laid out apart.
                x, c = x.contiguous(), c.contiguous()
                return dict(zip("rvb", gradient(norm, x, weight, torch.zeros_like(weight), c)))

            yield Case(
                "%p = smp.fill 1.0 : {b}\n"
                "  %y, %m, %s, %n, %o = smp.batch_norm %x running %p, %p momentum 0.2 epsilon 1.0e-03 : {x}, {b}\n"
                f"  %r, %v, %b = smp.batch_norm_grad %c, %x{words} mean %m rstd %s : {{x}}, {{b}}",
                operands, slopes, rounded=False, slack=4, least=1,
            )  # fmt: skip


FAMILIES = [reductions, products, norms, norm_gradients, mixed_norms, batch_norms]
