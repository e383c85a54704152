# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dropout's masks are those that docs/Numerics.md promises: random, a function
of seed, site, sample and element, and the same forward and backward."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

sys.path[:0] = [
    str(Path(__file__).resolve().parent),
    str(Path(__file__).resolve().parents[2] / "python"),
]

import numpy as np  # noqa: E402
import torch  # noqa: E402
from cases import type_of  # noqa: E402
from harness import IntegrationTest, main, run  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import smp  # noqa: E402

torch.set_num_threads(1)
RATES = [0.01, 0.1, 0.25, 0.5, 0.9]
M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def splitmix64(value: int) -> int:
    value = (value + 0x9E3779B97F4A7C15) & M64
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & M64
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & M64
    return value ^ (value >> 31)


def uniforms(seed: int, site: int, sample: int, count: int) -> np.ndarray:
    """Philox4x32-7 by the paper: the numbers of a sample's elements."""
    key = splitmix64(seed ^ splitmix64(site))
    low, high = key & M32, key >> 32
    blocks = np.arange((count + 3) // 4, dtype=np.uint64)
    mask, half = np.uint64(M32), np.uint64(32)
    words = [blocks & mask, blocks >> half]
    words += [np.full_like(blocks, sample & M32), np.full_like(blocks, sample >> 32)]
    for _ in range(7):
        first = words[0] * np.uint64(0xD2511F53)
        second = words[2] * np.uint64(0xCD9E8D57)
        words = [
            (second >> half) ^ words[1] ^ np.uint64(low), second & mask,
            (first >> half) ^ words[3] ^ np.uint64(high), first & mask,
        ]  # fmt: skip
        low, high = (low + 0x9E3779B9) & M32, (high + 0xBB67AE85) & M32
    return (np.stack(words, 1).ravel()[:count] >> np.uint64(8)) / 2.0**24


def factors(seed, site, rate, shape, rows=1, first=0) -> torch.Tensor:
    """What a dropout multiplies by; `rows` rows of dim 0 are a sample's."""
    per_sample = rows * int(np.prod(shape[1:]))
    drawn = [uniforms(seed, site, first + n, per_sample) for n in range(shape[0] // rows)]
    kept = np.concatenate(drawn) >= np.float32(rate)
    return torch.from_numpy(kept / (1 - rate)).view(*shape)


class DropoutTest(IntegrationTest):
    def interpret(self, text, inputs: dict, *options, weights=None) -> dict:
        module, given = self.path("dropout.mlir"), self.path("in.safetensors")
        results = self.path("out.safetensors")
        module.write_text(text)
        save_file({n: t.contiguous() for n, t in inputs.items()}, given)
        chosen = [f"--weights={weights}"] if weights else []
        finished = run(
            "smp-interpret", module, "--inputs", given, "-o", results,
            "--precision=f64", *chosen, *options,
        )  # fmt: skip
        self.assertEqual(finished.code, 0, finished.errors)
        return load_file(results)

    def assertClose(self, got, expected, tolerance=1e-9, what="") -> None:
        scale = max(expected.abs().max().item(), 1e-12)
        error = (got.double() - expected.double()).abs().max().item() / scale
        self.assertLessEqual(error, tolerance, what)

    def assertSameBits(self, got: dict, expected: dict, what) -> None:
        self.assertEqual(got.keys(), expected.keys())
        for name, tensor in expected.items():
            self.assertTrue(torch.equal(got[name], tensor), f"{name} of {what}")


class Masks(DropoutTest):
    def masks(self, sites: dict[int, float], shape, *options, rows=1) -> dict:
        """What each site makes of ones."""
        type = "tensor<" + "x".join(map(str, shape)) + "xf32>"
        lines, results, values = [], [], []
        for site, rate in sites.items():
            word = f" rows_per_sample {rows}" * (rows > 1)
            lines.append(f"%r{site} = smp.dropout %x probability {rate} site {site}{word} : {type}")
            results.append(f'{type} {{smp.name = "{site}"}}')
            values.append(f"%r{site}")
        text = (
            f'func.func @train(%x: {type} {{smp.name = "x"}}) -> ({", ".join(results)}) {{\n  '
            + "\n  ".join(lines)
            + f"\n  return {', '.join(values)} : {', '.join([type] * len(values))}\n}}\n"
        )
        found = self.interpret(text, {"x": torch.ones(shape)}, *options)
        return {int(site): mask for site, mask in found.items()}

    def test_rates(self) -> None:
        """Kept elements are within four standard deviations of their number."""
        shape = [64, 33, 31]
        count = int(np.prod(shape))
        found = self.masks(dict(enumerate(RATES, 1)), shape, "--seed=5")
        for rate, mask in zip(RATES, found.values()):
            kept = (mask != 0).sum().item()
            deviation = (count * rate * (1 - rate)) ** 0.5
            self.assertLess(abs(kept - count * (1 - rate)), 4 * deviation, rate)
            self.assertClose(mask[mask != 0], torch.tensor(1 / (1 - rate)), 1e-7)
            # In each sample and each column, too.
            for dims, size in (((1, 2), 33 * 31), ((0, 1), 64 * 33)):
                shares = (mask != 0).float().mean(dims)
                bound = 5 * (rate * (1 - rate) / size) ** 0.5
                self.assertLess((shares - (1 - rate)).abs().max().item(), bound)

    def test_generator(self) -> None:
        """The masks are Philox's, written down again from its paper."""
        for rows, shape in ((1, [3, 5, 7]), (2, [8, 3]), (3, [6]), (4, [4, 1, 9])):
            for seed in (0, 7, 2**40 + 3):
                sites = {1: 0.3, 2: 0.5, 2**33: 0.8}
                found = self.masks(sites, shape, f"--seed={seed}", rows=rows)
                for site, rate in sites.items():
                    expected = factors(seed, site, rate, shape, rows)
                    self.assertClose(found[site], expected, 1e-7, f"{rows} {shape} {seed} {site}")

    def test_what_it_depends_on(self) -> None:
        shape, sites = [6, 16, 16], {1: 0.5, 2: 0.5}
        first = self.masks(sites, shape, "--seed=3")
        self.assertSameBits(self.masks(sites, shape, "--seed=3"), first, "one seed")
        other = self.masks(sites, shape, "--seed=4")
        samples = [*first[1], *first[2], *other[1], *other[2]]
        for a, b in itertools.combinations(samples, 2):
            # Independent masks agree in half of their 256 elements.
            self.assertLess(abs((a == b).float().mean().item() - 0.5), 0.2)
        rates = self.masks({1: 0.2}, shape, "--seed=3")
        # A lower rate keeps what a higher one keeps.
        self.assertTrue(((rates[1] != 0) | (first[1] == 0)).all())

    def test_rows(self) -> None:
        """A sample's mask is its own, whatever other rows there are."""
        whole = self.masks({1: 0.4}, [8, 5], "--seed=3")[1]
        for count in (1, 2, 7):
            part = self.masks({1: 0.4}, [count, 5], "--seed=3")[1]
            self.assertTrue(torch.equal(part, whole[:count]))


class Gradients(DropoutTest):
    def test_dropout(self) -> None:
        """d(sum(dropout(x w) c))/dw, with the mask of the generator."""
        x, c = torch.randn(4, 6).double(), torch.randn(4, 6).double()
        type = type_of(x)
        text = f"""
        smp.parameter @w : tensor<1x6xf64>
        func.func @train(%x: {type} {{smp.name = "x"}}, %c: {type} {{smp.name = "c"}})
            -> (tensor<f64> {{smp.name = "loss", smp.role = "loss"}}, {type} {{smp.name = "y"}}) {{
          %w = smp.get_parameter @w as "w" : tensor<1x6xf64>
          %e = smp.expand %w [0, 1] : tensor<1x6xf64> -> {type}
          %p = smp.mul %x, %e : {type}
          %y = smp.dropout %p probability 0.4 site 9 rows_per_sample 2 : {type}
          %z = smp.mul %y, %c : {type}
          %l = smp.reduce_sum %z [0, 1] : {type} -> tensor<f64>
          return %l, %y : tensor<f64>, {type}
        }}"""
        weights = self.path("w.safetensors")
        w = torch.randn(1, 6).double()
        save_file({"w": w}, weights)
        got = self.interpret(text, {"x": x, "c": c}, "--gradients", "--seed=8", weights=weights)
        mask = factors(8, 9, 0.4, x.shape, 2)
        self.assertClose(got["y"], x * w * mask)
        self.assertClose(got["grad/w"], (x * mask * c).sum(0, keepdim=True))

    def test_attention(self) -> None:
        """Dropout of the weights, of grouped queries, behind a mask."""
        generator = torch.Generator().manual_seed(1)
        draw = lambda *s: torch.randn(s, generator=generator, dtype=torch.float64)  # noqa: E731
        parts = {"q": draw(3, 4, 5, 6), "k": draw(3, 2, 5, 6), "v": draw(3, 2, 5, 2)}
        c = draw(3, 4, 5, 2)
        types = {name: type_of(value) for name, value in parts.items()}
        header = "\n".join(f"smp.parameter @{n} : {t}" for n, t in types.items())
        reads = "\n".join(f'%{n} = smp.get_parameter @{n} as "{n}" : {t}' for n, t in types.items())
        text = f"""{header}
        func.func @train(%c: {type_of(c)} {{smp.name = "c"}})
            -> (tensor<f64> {{smp.name = "loss", smp.role = "loss"}}, {type_of(c)} {{smp.name = "y"}}) {{
          {reads}
          %y, %s = smp.attention %q, %k, %v <causal> scale 0.6 dropout 0.3 site 4 : {", ".join(types.values())}
          %z = smp.mul %y, %c : {type_of(c)}
          %l = smp.reduce_sum %z [0, 1, 2, 3] : {type_of(c)} -> tensor<f64>
          return %l, %y : tensor<f64>, {type_of(c)}
        }}"""
        weights = self.path("qkv.safetensors")
        save_file(parts, weights)
        got = self.interpret(text, {"c": c}, "--gradients", "--seed=2", weights=weights)
        leaves = {n: v.clone().requires_grad_() for n, v in parts.items()}
        k, v = (leaves[n].repeat_interleave(2, 1) for n in "kv")
        scores = (leaves["q"] @ k.mT * 0.6).masked_fill(torch.ones(5, 5).triu(1).bool(), -torch.inf)
        expected = (scores.softmax(-1) * factors(2, 4, 0.3, [3, 4, 5, 5])) @ v
        self.assertClose(got["y"], expected.detach())
        (expected * c).sum().backward()
        for name, leaf in leaves.items():
            self.assertClose(got[f"grad/{name}"], leaf.grad, what=name)


class Dropping(nn.Module):
    """Gets x [batch, 6, 8]; `kind` says how the dropped tensor lies."""

    def __init__(self, kind: str):
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 4)
        self.place = nn.Parameter(torch.ones(6, 8))
        self.bias = nn.Parameter(torch.linspace(-1, 1, 72).view(2, 6, 6))
        self.kind = kind

    def forward(self, x, target):
        y = self.first(x + self.place)
        if self.kind == "rows":
            y = F.dropout(y, 0.3)
        elif self.kind == "flat":
            y = F.dropout(y.flatten(0, 1), 0.3).view_as(x)
        elif self.kind == "time first":
            y = F.dropout(y.transpose(0, 1), 0.3).transpose(0, 1)
        elif self.kind == "heads":
            heads = y.view(-1, 6, 2, 4).transpose(1, 2).flatten(0, 1)
            weights = F.dropout((heads @ heads.mT).softmax(-1), 0.3)
            y = (weights @ heads).unflatten(0, (-1, 2)).transpose(1, 2).flatten(2)
        elif "attention" in self.kind:
            heads = y.view(-1, 6, 2, 4).transpose(1, 2)
            if self.kind == "attention of folded heads":
                heads = heads.flatten(0, 1)
            elif self.kind == "attention in windows":
                heads = heads.unflatten(2, (2, 3)).permute(0, 2, 1, 3, 4).flatten(0, 1)
            bias = self.bias if "bias" in self.kind else None
            y = F.scaled_dot_product_attention(heads, heads, heads, bias, dropout_p=0.3)
            if self.kind == "attention of folded heads":
                y = y.unflatten(0, (-1, 2))
            elif self.kind == "attention in windows":
                y = y.unflatten(0, (-1, 2)).permute(0, 2, 1, 3, 4).flatten(2, 3)
            y = y.transpose(1, 2).flatten(2)
        y = self.second(F.relu(y))
        return {"loss": F.mse_loss(y, target), "y": y}


KINDS = [
    "rows", "flat", "time first", "heads", "attention", "attention with bias",
    "attention of folded heads", "attention in windows",
]  # fmt: skip


class Cuts(DropoutTest):
    """However a batch is cut, each sample meets the same numbers."""

    def check(self, kind: str) -> None:
        torch.manual_seed(3)
        model = Dropping(kind).train()
        generator = torch.Generator().manual_seed(4)
        inputs = {
            "x": torch.randn(8, 6, 8, generator=generator),
            "target": torch.randn(8, 6, 4, generator=generator),
        }
        archive, module = self.path("model.pt2"), self.path("model.mlir")
        weights = self.path("weights.safetensors")
        example = {name: value[:2] for name, value in inputs.items()}
        smp.export(model, example, archive, init={".*": "none"})
        finished = run("smp-import", archive, "-o", module, "--weights", weights)
        self.assertEqual(finished.code, 0, finished.errors)
        text = module.read_text()
        self.assertIn("dropout", text)

        def step(*options):
            return self.interpret(text, inputs, "--gradients", *options, weights=weights)

        whole = step("--seed=1")
        for options in (
            ["--microbatches=2"], ["--microbatches=8"], ["--ranks=2"],
            ["--ranks=4", "--microbatches=2"],
        ):  # fmt: skip
            cut = step("--seed=1", *options)
            for name, value in whole.items():
                self.assertClose(cut[name], value, 1e-12, f"{name} by {options}")
        other = step("--seed=2")
        self.assertGreater((other["y"] - whole["y"]).abs().max().item(), 1e-2)
        self.assertSameBits(step("--seed=1"), whole, "one seed")

    def test_models(self) -> None:
        for kind in KINDS:
            with self.subTest(kind):
                self.check(kind)


if __name__ == "__main__":
    main()
