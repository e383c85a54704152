# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases of ops: the op as text, its operands, and PyTorch's function.

Many cases become one module, so that few processes run. Each is compared twice:
with PyTorch's function in double precision on the same operands, of which the
interpreter's result must be the rounded value; and with PyTorch's function in
the operands' own types, within what such types can hold.
"""

from __future__ import annotations

import random
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

import torch
from safetensors.torch import load_file, save_file

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "integration"))

from harness import EXHAUSTIVE, IntegrationTest, run  # noqa: E402

torch.set_num_threads(1)

NAMES = {
    torch.float64: "f64",
    torch.float32: "f32",
    torch.bfloat16: "bf16",
    torch.float16: "f16",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.uint8: "i8",
    torch.bool: "i1",
}
FLOATS = [torch.float64, torch.float32, torch.bfloat16, torch.float16]
INTEGERS = [torch.int64, torch.int32]
# What PyTorch's own kernels may differ by, relative to the largest element.
KERNELS = {
    torch.float64: 1e-12,
    torch.float32: 1e-5,
    torch.bfloat16: 2**-6,
    torch.float16: 2**-9,
}


def type_of(tensor: torch.Tensor) -> str:
    sizes = "".join(f"{size}x" for size in tensor.shape)
    return f"tensor<{sizes}{NAMES[tensor.dtype]}>"


def double(value):
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return value.double()
    return value


@dataclass
class Case:
    """`text` has %names, which become the module's, and {names} of operands and
    results for their types. `function` gets the operands in order and gives the
    result %r or a dict of results. Where results are not a function of the
    operands in exact arithmetic only (gradients from rounded statistics),
    `rounded` is off: there is no comparison in double precision."""

    text: str
    operands: dict[str, torch.Tensor]
    function: Callable
    rounded: bool = True
    # Results where PyTorch's kernels in narrow types round on the way.
    slack: float = 1.0
    # What the error is relative to at least, where all results may cancel.
    least: float = 0.0
    # Result types that are written otherwise, with dynamic dims.
    types: dict[str, str] = field(default_factory=dict)

    def results(self, convert=lambda value: value) -> dict[str, torch.Tensor]:
        results = self.function(*map(convert, self.operands.values()))
        results = results if isinstance(results, dict) else {"r": results}
        return {name: value.detach() for name, value in results.items()}

    def ops(self) -> set[str]:
        return set(re.findall(r"\bsmp\.(\w+)", self.text))

    def __str__(self) -> str:
        types = {name: type_of(value) for name, value in self.operands.items()}
        return f"{self.text} of {types}"


class Draw:
    """Random sizes and elements, by a seed."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.generator = torch.Generator().manual_seed(seed)

    def shape(self, rank: int | None = None, empty: bool = True) -> list[int]:
        """Odd, even and single sizes; rarely none at all."""
        rank = self.random.randint(0, 4) if rank is None else rank
        choices = [1, 2, 3, 5, 7]
        if empty and self.random.random() < 0.15:
            choices.append(0)
        return [self.random.choice(choices) for _ in range(rank)]

    def laid_out(self, tensor: torch.Tensor) -> torch.Tensor:
        """The same elements, in memory that is not in their order."""
        kind = self.random.choice(["dense", "turned", "strided", "offset"])
        if tensor.dim() == 0 or kind == "dense":
            return tensor
        if kind == "turned":
            order = list(range(tensor.dim()))
            self.random.shuffle(order)
            back = [order.index(dim) for dim in range(len(order))]
            return tensor.permute(order).contiguous().permute(back)
        wide = tensor.new_zeros([*tensor.shape[:-1], 2 * tensor.shape[-1] + 1])
        view = wide[..., 1::2] if kind == "strided" else wide[..., 1 : tensor.shape[-1] + 1]
        return view.copy_(tensor)

    def floats(self, shape, dtype, low=None, high=None) -> torch.Tensor:
        """Normal numbers, or uniform ones between bounds."""
        given = {"generator": self.generator, "dtype": torch.float64}
        if low is None:
            return self.laid_out(torch.randn(shape, **given).to(dtype))
        values = torch.rand(shape, **given) * (high - low) + low
        return self.laid_out(values.to(dtype))

    def integers(self, shape, low, high, dtype=torch.int64) -> torch.Tensor:
        values = torch.randint(low, high, shape, generator=self.generator)
        return self.laid_out(values.to(dtype))

    def truths(self, shape) -> torch.Tensor:
        return self.integers(shape, 0, 2, torch.bool)

    def of(self, dtype, shape) -> torch.Tensor:
        """Elements of any type."""
        if dtype.is_floating_point:
            return self.floats(shape, dtype)
        if dtype == torch.bool:
            return self.truths(shape)
        return self.integers(shape, 0 if dtype == torch.uint8 else -99, 99, dtype)

    def dims(self, rank: int) -> list[int]:
        """Any of the dims, in ascending order, also none and all."""
        return [dim for dim in range(rank) if self.random.random() < 0.5]


def module_of(cases: list[Case]) -> tuple[str, dict[str, torch.Tensor]]:
    """One function that runs all the cases, and what it gets."""
    arguments, results, body, returned, given = [], [], [], [], {}
    for number, case in enumerate(cases):
        expected = case.results()
        types = {n: type_of(t) for n, t in {**case.operands, **expected}.items()}
        types |= case.types
        for name, value in case.operands.items():
            key = f"c{number}_{name}"
            arguments.append(f'%{key}: {types[name]} {{smp.name = "{key}"}}')
            given[key] = value.clone(memory_format=torch.contiguous_format)
        text = re.sub(r"\{(\w+)\}", lambda found: types[found[1]], case.text)
        body.append(re.sub(r"%(\w)", rf"%c{number}_\1", text))
        for name in expected:
            results.append(f'{types[name]} {{smp.name = "c{number}_{name}"}}')
            returned.append((f"%c{number}_{name}", types[name]))
    values, types = zip(*returned)
    text = (
        f"func.func @train({', '.join(arguments)})\n    -> ({', '.join(results)}) {{\n  "
        + "\n  ".join(body)
        + f"\n  return {', '.join(values)} : {', '.join(types)}\n}}\n"
    )
    return text, given


def rounding(dtype: torch.dtype) -> float:
    """Half the distance of neighbours, relative to a number."""
    return torch.finfo(dtype).eps / 2 * (1 + 1e-6)


def difference(got: torch.Tensor, expected: torch.Tensor, bound: torch.Tensor):
    """Where a result is further than the bound from what is expected, or None.
    What is not finite must be the same."""
    got, expected = got.double(), expected.double()
    finite = expected.isfinite()
    near = (got - expected).abs() <= bound
    same = (got == expected) | (got.isnan() & expected.isnan())
    wrong = ~torch.where(finite, near | same, same)
    if not wrong.any():
        return None
    place = tuple(wrong.nonzero()[0].tolist())
    count = f"{int(wrong.sum())} of {wrong.numel()} elements"
    return f"{count}, at {list(place)}: expects {expected[place]}, got {got[place]}"


def compare(case: Case, name: str, got: torch.Tensor) -> str | None:
    """What a result differs in, or None."""
    native = case.results()[name]
    if got.dtype != native.dtype or got.shape != native.shape:
        return f"expects {type_of(native)}, got {type_of(got)}"
    if not native.is_floating_point():
        return None if torch.equal(got, native) else f"expects {native}, got {got}"
    dtype = native.dtype
    magnitude = native[native.isfinite()].double().abs()
    largest = magnitude.max() if magnitude.numel() else torch.zeros(())
    largest = largest.clamp_min(case.least)
    kernels = torch.full_like(native.double(), KERNELS[dtype] * case.slack) * largest
    if found := difference(got, native, kernels):
        return f"PyTorch in {NAMES[dtype]}: {found}"
    if not case.rounded:
        return None
    exact = case.results(double)[name]
    tiny = torch.finfo(dtype).smallest_normal * torch.finfo(dtype).eps
    bound = exact.abs() * rounding(dtype) + tiny + largest * KERNELS[torch.float64]
    exact = torch.where(exact.to(dtype).isfinite(), exact, exact.to(dtype).double())
    if found := difference(got, exact, bound):
        return f"PyTorch in f64, rounded to {NAMES[dtype]}: {found}"
    return None


class OperatorTest(IntegrationTest):
    def check(self, cases: list[Case]) -> None:
        """Runs all cases as one module, and names those that differ."""
        text, given = module_of(cases)
        module, inputs = self.path("cases.mlir"), self.path("in.safetensors")
        results = self.path("out.safetensors")
        module.write_text(text)
        save_file(given, inputs)
        finished = run(
            "smp-interpret", module, "--inputs", inputs, "-o", results
        )
        self.assertEqual(finished.code, 0, finished.errors[:4000])
        got = load_file(results)
        for number, case in enumerate(cases):
            for name in case.results():
                with self.subTest(case=str(case), result=name):
                    found = compare(case, name, got[f"c{number}_{name}"])
                    self.assertIsNone(found)


def seeds(usual: int, exhaustive: int) -> range:
    return range(exhaustive if EXHAUSTIVE else usual)
