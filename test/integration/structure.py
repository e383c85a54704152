# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A normal form of IR: what each function computes, without names and order.

A value is the hash of its op, attributes, types and operands' hashes; two
functions are the same when the values that they return under each name are.
Values that nothing needs do not count, nor does the order of arguments.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field

from harness import run

_OP = re.compile(r'^\s*(?:(%\w+)(?::\d+)? = )?"([\w.]+)"\(([^)]*)\)(.*)$')
_ARGUMENT = re.compile(r"(%\w+): ([^,)]+)")
_SCOPE = re.compile(r'scope = "[^"]*"')
_NAMES = re.compile(r'smp\.name = "([^"]+)"')


@dataclass
class Structure:
    """The values that a function returns, and its needed ops by their text."""

    returned: dict[str, str] = field(default_factory=dict)
    ops: Counter = field(default_factory=Counter)

    def difference(self, other: Structure) -> str:
        gone, new = self.ops - other.ops, other.ops - self.ops
        lines = [f"- {count} {op}" for op, count in sorted(gone.items())]
        lines += [f"+ {count} {op}" for op, count in sorted(new.items())]
        return "\n".join(lines[:40]) or "the same ops, put together otherwise"


def _hash(*parts: str) -> str:
    return hashlib.sha1("\0".join(parts).encode()).hexdigest()


def _names(header: str, attribute: str) -> list[str]:
    """Those of the arguments or results, in order."""
    listed = re.search(attribute + r" = \[(.*?)\](, |\})", header)
    return _NAMES.findall(listed[1]) if listed else []


def _structure(header: str, lines: list[str]) -> Structure:
    arguments = _names(header, "arg_attrs")
    numbers: dict[str, str] = {}
    made: dict[str, tuple[str, list[str]]] = {}
    result = Structure()

    def number(operand: str) -> str:
        name, _, index = operand.partition("#")
        return _hash(numbers[name], index)

    for line in lines:
        if line.strip().startswith("^bb0"):
            for place, (name, kind) in enumerate(_ARGUMENT.findall(line)):
                numbers[name] = _hash("argument", arguments[place], kind)
        match = _OP.match(line)
        if not match:
            continue
        name, op, listed, rest = match.groups()
        operands = [number(o.strip()) for o in listed.split(",") if o.strip()]
        if op == "func.return":
            names = _names(header, "res_attrs")
            result.returned = dict(zip(names, operands, strict=True))
        elif name:
            numbers[name] = _hash(op, rest, *operands)
            for index in ("", *map(str, range(8))):
                made[_hash(numbers[name], index)] = (f"{op}{rest}", operands)
    waiting, seen = list(result.returned.values()), set()
    while waiting:
        value = waiting.pop()
        if value not in made:
            continue
        op, operands = made[value]
        key = _hash(op, *operands)
        if key not in seen:
            seen.add(key)
            result.ops[op] += 1
            waiting += operands
    return result


def structures(module, scopes: bool = True) -> dict[str, Structure]:
    """The functions of a module by name, in canonical form; without `scopes`
    it does not count in which module of the model an op stands."""
    printed = run("smp-opt", module, "--mlir-print-op-generic", "--canonicalize")
    if printed.code != 0:
        raise AssertionError(printed.errors)
    result, lines, name, header = {}, [], None, ""
    for line in printed.output.splitlines():
        if '"func.func"' in line:
            name, lines, header = re.search(r'sym_name = "(\w+)"', line)[1], [], line
        elif name:
            lines.append(line if scopes else _SCOPE.sub("scope", line))
            if '"func.return"' in line:
                result[name] = _structure(header, lines)
                name = None
    return result
