# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs an exported graph with every floating dtype replaced by float64.

That is the reference of `--precision=f64`. A model converted by `.double()`
is not: it still rounds where its code casts to float32.
"""

from __future__ import annotations

import contextlib
import copy

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.utils import _pytree as pytree

_FLOATING = (torch.float16, torch.bfloat16, torch.float32)


@contextlib.contextmanager
def _default_double():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def lift(value):
    """Floating dtypes and tensors in float64; anything else as it is."""
    if isinstance(value, torch.dtype) and value in _FLOATING:
        return torch.float64
    if isinstance(value, torch.Tensor) and value.dtype in _FLOATING:
        return value.detach().to(torch.float64)
    return value


class LiftedGraph:
    """A graph of an exported program, ready to run in float64."""

    def __init__(self, program: ExportedProgram, parameters: dict[str, torch.Tensor]):
        self.parameters = {
            name: lift(value).requires_grad_(value.is_floating_point())
            for name, value in parameters.items()
        }
        self._program = program
        self._module = copy.deepcopy(program.graph_module)
        graph = self._module.graph
        for node in list(graph.nodes):
            if str(node.target).startswith("aten._assert"):
                graph.erase_node(node)
                continue
            # Attention's result may have other strides in float64.
            if node.target is torch.ops.aten.view.default:
                node.target = torch.ops.aten.reshape.default
            node.args = pytree.tree_map(lift, node.args)
            node.kwargs = pytree.tree_map(lift, node.kwargs)
        self._module.recompile()

    def __call__(self, inputs: dict) -> dict[str, torch.Tensor]:
        """The tensor outputs by their name in the graph; `inputs` by
        placeholder."""
        arguments = [
            self._argument(spec, inputs)
            for spec in self._program.graph_signature.input_specs
        ]
        with _default_double():
            results = self._module(*arguments)
        specs = self._program.graph_signature.output_specs
        return {spec.arg.name: value for spec, value in zip(specs, results)}

    def _argument(self, spec, inputs):
        if spec.kind is InputKind.PARAMETER:
            return self.parameters[spec.target]
        if spec.kind is InputKind.USER_INPUT:
            return lift(inputs[spec.arg.name])
        stored = self._program.state_dict | self._program.constants
        return lift(stored[spec.target])
