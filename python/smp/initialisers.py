# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records how a model initialises its parameters.

A job draws its own initial weights, the same on every layout, so it needs to
know the distribution of each parameter and not its values. While
`record_initialisation` is active, every tensor operation that writes random or
constant values is seen below `torch.nn.init`, and the last one to write a
tensor counts. What is not understood makes the tensor unknown: the export then
asks, instead of guessing.
"""

from __future__ import annotations

import contextlib
import math
import re
from dataclasses import dataclass, replace

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode

from .errors import ExportError


@dataclass(frozen=True)
class Initialiser:
    """`scale * X + shift` with X standard normal, uniform in [0, 1), or 1; a
    truncated normal also has its ends."""

    kind: str
    scale: float
    shift: float
    low: float | None = None
    high: float | None = None
    zeroed: tuple[int, int] | None = None  # elements of zeros: a padding row
    partly: bool = False  # another part was written again

    def affine(self, factor: float, term: float) -> Initialiser | None:
        if self.kind == "truncated":
            return None
        return replace(
            self,
            scale=self.scale * factor,
            shift=self.shift * factor + term,
            partly=self.partly or (self.zeroed is not None and term != 0),
        )

    def with_part(self, part: Initialiser | None, begin: int, end: int) -> Initialiser:
        """Elements from `begin` to before `end` of it were written again."""
        zeros = part is not None and part.json() == {"kind": "constant", "value": 0.0}
        if zeros and self.zeroed in (None, (begin, end)):
            return replace(self, zeroed=(begin, end))
        return replace(self, partly=True)

    def text(self) -> str:
        """As --init says it."""
        values = self.json()
        values.pop("zeroed", None)
        return f"{values.pop('kind')}({','.join(f'{v:.9g}' for v in values.values())})"

    def json(self) -> dict:
        values = self._distribution()
        return values | {"zeroed": list(self.zeroed)} if self.zeroed else values

    def _distribution(self) -> dict:
        if self.kind == "constant":
            return {"kind": "constant", "value": self.scale + self.shift}
        if self.kind == "normal":
            return {"kind": "normal", "mean": self.shift, "std": abs(self.scale)}
        if self.kind == "uniform":
            ends = sorted((self.shift, self.shift + self.scale))
            return {"kind": "uniform", "low": ends[0], "high": ends[1]}
        return {
            "kind": "truncated_normal",
            "mean": self.shift,
            "std": abs(self.scale),
            "low": self.low,
            "high": self.high,
        }


def _constant(value: float) -> Initialiser:
    return Initialiser("constant", float(value), 0.0)


def _normal(mean: float = 0.0, std: float = 1.0) -> Initialiser:
    return Initialiser("normal", float(std), float(mean))


def _uniform(low: float = 0.0, high: float = 1.0) -> Initialiser:
    return Initialiser("uniform", float(high) - float(low), float(low))


# What an operation leaves in its result, from its scalar arguments.
_SOURCES = {
    "normal_": lambda mean=0.0, std=1.0: _normal(mean, std),
    "uniform_": lambda low=0.0, high=1.0: _uniform(low, high),
    "zero_": lambda: _constant(0),
    "zeros": lambda: _constant(0),
    "zeros_like": lambda: _constant(0),
    "new_zeros": lambda: _constant(0),
    "ones": lambda: _constant(1),
    "ones_like": lambda: _constant(1),
    "new_ones": lambda: _constant(1),
    "fill_": lambda value: _constant(value),
    "full": lambda value: _constant(value),
    "full_like": lambda value: _constant(value),
    "new_full": lambda value: _constant(value),
    "randn": lambda: _normal(),
    "randn_like": lambda: _normal(),
    "rand": lambda: _uniform(),
    "rand_like": lambda: _uniform(),
}


# What an operation does to a known tensor, from its scalar arguments.
_MAPS = {
    "mul": lambda old, factor: old.affine(factor, 0.0),
    "div": lambda old, factor: old.affine(1.0 / factor, 0.0),
    "add": lambda old, term, alpha=1: old.affine(1.0, term * alpha),
    "sub": lambda old, term, alpha=1: old.affine(1.0, -term * alpha),
    "neg": lambda old: old.affine(-1.0, 0.0),
    "clone": lambda old: old,
    "_to_copy": lambda old: old,
    "detach": lambda old: old,
    "copy_": lambda old: old,
}


class _Records:
    """The initialiser of each live storage; weak, so nothing is kept alive."""

    def __init__(self):
        self._entries: dict[int, tuple[StorageWeakRef, Initialiser | None]] = {}

    def get(self, tensor: torch.Tensor) -> Initialiser | None:
        entry = self._entries.get(tensor.untyped_storage()._cdata)
        return entry[1] if entry else None

    def set(self, tensor: torch.Tensor, value: Initialiser | None) -> None:
        storage = tensor.untyped_storage()
        if value is None:
            self._entries.pop(storage._cdata, None)
        else:
            self._entries[storage._cdata] = (StorageWeakRef(storage), value)

    def drop_dead(self) -> None:
        self._entries = {
            key: entry for key, entry in self._entries.items() if not entry[0].expired()
        }


_records = _Records()


def _is_whole(tensor: torch.Tensor) -> bool:
    """Whether the tensor covers its storage, so that a write replaces all."""
    size = tensor.untyped_storage().nbytes()
    return tensor.numel() * tensor.element_size() == size


class _Recorder(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        # A view's result shares the storage and changes nothing; everything
        # else that returns a tensor has just written it.
        old = _operand_record(func, args)
        result = func(*args, **kwargs)
        for tensor in _written_operands(func, args, kwargs):
            before = None if _is_whole(tensor) else _records.get(tensor)
            if before:
                part = _written_record(func, args, kwargs, None)
                if not tensor.is_contiguous():
                    part = None
                begin = tensor.storage_offset()
                before = before.with_part(part, begin, begin + tensor.numel())
            _records.set(tensor, before)
        if isinstance(result, torch.Tensor) and not func.is_view:
            if _is_whole(result):
                _records.set(result, _written_record(func, args, kwargs, old))
        return result


def _written_operands(func, args, kwargs):
    """The tensors an operation writes in place, lists of them included."""
    for position, argument in enumerate(func._schema.arguments):
        if argument.alias_info is None or not argument.alias_info.is_write:
            continue
        value = kwargs.get(argument.name)
        if position < len(args):
            value = args[position]
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(item, torch.Tensor):
                yield item


def _operand_record(func, args) -> Initialiser | None:
    tensors = [arg for arg in args if isinstance(arg, torch.Tensor)]
    source = 1 if func._schema.name == "aten::copy_" and len(tensors) == 2 else 0
    return _records.get(tensors[source]) if tensors else None


def _written_record(func, args, kwargs, old) -> Initialiser | None:
    name = func._schema.name.removeprefix("aten::")
    scalars = [arg for arg in args if isinstance(arg, (int, float))]
    tensors = [arg for arg in args if isinstance(arg, torch.Tensor)]
    if name in _SOURCES:
        # A value given as a tensor, or a shape with a symbol: not understood.
        try:
            return _SOURCES[name](*scalars)
        except TypeError:
            return None
    # Padding by nothing is a copy, which ties of padded vocabularies make.
    if name == "constant_pad_nd" and not any(args[1]):
        return old
    base = name.rstrip("_") if name != "copy_" else name
    if old is None or base not in _MAPS:
        return None
    # With a second tensor operand the result is no affine map of the first.
    if len(tensors) > 1 and name != "copy_":
        return None
    if name == "copy_":
        scalars = []
    if kwargs.keys() & {"min", "max", "rounding_mode"}:
        return None
    try:
        return _MAPS[base](old, *scalars)
    except TypeError:
        return None


def _recording_truncation(draw):
    """torch.nn.init's drawing of a truncated normal: it rejects and draws
    again, which nothing below it tells; and without storage it does nothing."""

    def recorded(tensor, mean, std, a, b, generator=None):
        result = draw(tensor, mean, std, a, b, generator)
        value = Initialiser("truncated", float(std), float(mean), float(a), float(b))
        _records.set(tensor, value if _is_whole(tensor) else None)
        return result

    return recorded


@contextlib.contextmanager
def record_initialisation():
    """Build the model inside this context: its export then knows how each
    parameter is initialised."""
    draw = torch.nn.init._no_grad_trunc_normal_
    torch.nn.init._no_grad_trunc_normal_ = _recording_truncation(draw)
    try:
        with _Recorder():
            yield
    finally:
        torch.nn.init._no_grad_trunc_normal_ = draw
        _records.drop_dead()


@contextlib.contextmanager
def empty_parameters():
    """Inside this context, modules keep no storage for parameters.

    For exporting a model that does not fit into memory: buffers stay real,
    since the graph may use their values, and initialisers are recorded too.
    """
    register = torch.nn.Module.register_parameter

    def register_empty(module, name, parameter):
        if parameter is not None and parameter.device.type != "meta":
            record = _records.get(parameter)
            parameter = torch.nn.Parameter(
                parameter.detach().to("meta"), requires_grad=parameter.requires_grad
            )
            _records.set(parameter, record)
        register(module, name, parameter)

    torch.nn.Module.register_parameter = register_empty
    try:
        yield
    finally:
        torch.nn.Module.register_parameter = register


def parse_initialiser(text: str) -> dict | None:
    """`normal(mean,std)`, `uniform(low,high)`, `constant(value)`,
    `truncated_normal(mean,std,low,high)` or `none`."""
    fields = {
        "normal": ("mean", "std"),
        "uniform": ("low", "high"),
        "constant": ("value",),
        "truncated_normal": ("mean", "std", "low", "high"),
    }
    match = re.fullmatch(r"(\w+)(?:\(([^()]*)\))?", text.strip())
    if match and match[1] == "none" and match[2] is None:
        return None
    if match and match[1] in fields and match[2] is not None:
        try:
            values = [float(value) for value in match[2].split(",")]
        except ValueError:
            values = []
        numbers = dict(zip(fields[match[1]], values))
        fits = len(values) == len(fields[match[1]]) and all(map(math.isfinite, values))
        ordered = not fits or "low" not in numbers or numbers["low"] <= numbers["high"]
        if fits and ordered and numbers.get("std", 0) >= 0:
            return {"kind": match[1], **numbers}
    raise ExportError(
        "an initialiser expects 'normal(mean,std)', 'uniform(low,high)', "
        "'constant(value)', 'truncated_normal(mean,std,low,high)' or 'none', "
        f"of finite numbers, std at least 0, low at most high, got '{text}'"
    )


def initialiser_of(name: str, parameter: torch.Tensor, init) -> dict | None:
    """The initialiser of one parameter: what the caller says, else what was
    recorded. `init` is a list of (regular expression, initialiser)."""
    for pattern, value in init:
        if re.search(pattern, name):
            return value
    record = _records.get(parameter)
    if record is None:
        raise ExportError(
            f"parameter '{name}' expects a known initialiser, got none recorded",
            "build the model inside 'with smp.record_initialisation():', or say "
            f"it: --init '{re.escape(name)}=normal(0,0.02)' (init= in Python); "
            "--init '.*=none' leaves it open, and the job then needs weights",
        )
    if record.partly:
        raise ExportError(
            f"parameter '{name}' expects one initialiser, got {record.text()} of "
            "which a part was written again, and not with one row of zeros",
            f"--init '{re.escape(name)}={record.text()}' (init= in Python) draws that "
            f"part too; --init '{re.escape(name)}=none' leaves it open, and the job "
            "then needs weights",
        )
    return record.json()
