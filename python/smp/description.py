# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What smp needs to know of a model beside its graph: `extra/smp.json`.

The fields are described in docs/ExportFormat.md.
"""

from __future__ import annotations

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.utils import _pytree as pytree

from .errors import ExportError
from .initialisers import initialiser_of

VERSION = "1.0"
LABELS = ("labels", "label", "targets", "target")


def describe(model, programs, inputs, options) -> dict:
    """The description of `programs` ({"model": train, "eval": eval})."""
    train = programs["model"]
    groups = alias_groups(model, train)
    symbols = {_batch_symbol(program) for program in programs.values()}
    outputs = {name: _outputs(program, options) for name, program in programs.items()}
    convention = options.convention or _convention(train, options.labels)
    return {
        "version": VERSION,
        "torch": torch.__version__.split("+")[0],
        "weights": options.weights,
        "batch_symbol": symbols.pop(),
        "example_batch": options.batch,
        "inputs": _inputs(train, inputs, options),
        "outputs": outputs,
        "loss": {
            name: next(o["name"] for o in listed if o["role"] == "loss")
            for name, listed in outputs.items()
        },
        "aliases": [group for group in groups if len(group) > 1],
        "parameters": _parameters(model, groups, options.init),
        "buffers": _buffers(train),
        "convention": None if convention == "none" else convention,
        "labels_shifted": None if convention == "none" else convention == "hf",
    }


def alias_groups(model, program: ExportedProgram) -> list[list[str]]:
    """The names of each parameter, tied ones together, by object identity.

    The first of a group is the name the graph uses; the others are inputs of
    the graph without users.
    """
    used = set()
    nodes = {node.name: node for node in program.graph.nodes}
    for spec in program.graph_signature.input_specs:
        if spec.kind is InputKind.PARAMETER and nodes[spec.arg.name].users:
            used.add(spec.target)
    groups: dict[int, list[str]] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        groups.setdefault(id(parameter), []).append(name)
    return [sorted(group, key=lambda n: n not in used) for group in groups.values()]


def _batch_symbol(program: ExportedProgram) -> str:
    for node in program.graph.nodes:
        value = node.meta.get("val")
        if node.op == "placeholder" and isinstance(value, torch.Tensor):
            for size in value.shape:
                if isinstance(size, torch.SymInt):
                    return str(size.node.expr)
    raise ExportError(
        "the model expects a batch of any size, got one that is fixed by the graph"
    )


def _dtype(value: torch.Tensor) -> str:
    return str(value.dtype).removeprefix("torch.")


def _key_name(path) -> str:
    return ".".join(str(getattr(k, "key", getattr(k, "idx", k))) for k in path)


def _inputs(program, inputs: dict, options) -> list[dict]:
    """The tensor inputs; arguments that are constants are in the graph."""
    flat = [
        (_key_name(path), value)
        for path, value in pytree.tree_flatten_with_path(inputs)[0]
    ]
    specs = [
        spec
        for spec in program.graph_signature.input_specs
        if spec.kind is InputKind.USER_INPUT
    ]
    result = []
    for (name, value), spec in zip(_in_graph_order(program, flat), specs, strict=True):
        if not isinstance(value, torch.Tensor):
            continue
        batched = value.dim() > 0 and value.shape[0] == options.batch
        result.append(
            {
                "name": spec.arg.name,
                "user_name": name,
                "role": "label" if name in options.labels else "input",
                "dtype": _dtype(value),
                "shape": [
                    None if batched and i == 0 else n for i, n in enumerate(value.shape)
                ],
                "batch_dim": 0 if batched else None,
            }
        )
    names = {entry["user_name"] for entry in result}
    for name in options.labels:
        if options.labels != LABELS and name not in names:
            raise ExportError(
                f"labels expects inputs of the model, got '{name}'",
                "its inputs are " + ", ".join(f"'{known}'" for known in sorted(names)),
            )
    return result


def _in_graph_order(program, flat):
    """Inputs as the graph takes them: the keyword order of its input tree."""
    keywords = program.call_spec.in_spec.child(1)
    order = {name: i for i, name in enumerate(keywords.context)}
    return sorted(flat, key=lambda item: order[item[0].split(".")[0]])


def _outputs(program: ExportedProgram, options) -> list[dict]:
    specs = [
        spec
        for spec in program.graph_signature.output_specs
        if spec.kind is OutputKind.USER_OUTPUT
    ]
    values = {node.name: node.meta.get("val") for node in program.graph.nodes}
    tree = pytree.tree_unflatten(
        [spec.arg.name for spec in specs], program.call_spec.out_spec
    )
    paths = [path for path, _ in pytree.tree_flatten_with_path(tree)[0]]
    tensors = [
        (_output_name(path, options.wrapped), spec.arg.name, values[spec.arg.name])
        for path, spec in zip(paths, specs, strict=True)
        if isinstance(values.get(spec.arg.name), torch.Tensor)
    ]
    which = _loss_index(tensors, options.loss_output)
    result = []
    for index, (name, node, value) in enumerate(tensors):
        shape = [n if isinstance(n, int) else None for n in value.shape]
        role = "loss" if index == which else "output"
        result.append(
            {
                "name": name,
                "value": node,
                "role": role,
                "dtype": _dtype(value),
                "shape": shape,
            }
        )
    return result


def _output_name(path, wrapped: bool) -> str:
    """The keys of the output tree; positions become `output_<i>`. With a loss
    put around the model, what is beside it is named as the model named it."""
    name = _key_name(path)
    if wrapped and name == "0":
        return "loss"
    if wrapped:
        name = name.removeprefix("1").removeprefix(".")
    if not name:
        return "output"
    return f"output_{name}" if name[0].isdigit() else name


def _loss_index(tensors, loss: str | None) -> int:
    """The output called `loss`, or the only scalar of floating type."""
    wanted = loss or "loss"
    for index, (name, _, _) in enumerate(tensors):
        if name == wanted:
            return index
    scalars = [
        index
        for index, (_, _, value) in enumerate(tensors)
        if value.dim() == 0 and value.is_floating_point()
    ]
    names = ", ".join(f"'{name}'" for name, _, _ in tensors)
    if loss:
        raise ExportError(f"loss_output expects one of {names}, got '{loss}'")
    if len(scalars) != 1:
        raise ExportError(
            f"the model expects one scalar output as its loss, got {len(scalars)}",
            f"its outputs are {names}; give the model its labels, name the loss "
            "with loss_output, or give a function of (outputs, labels) as loss",
        )
    return scalars[0]


def _parameters(model, groups, init) -> list[dict]:
    by_name = dict(model.named_parameters(remove_duplicate=False))
    result = []
    for group in groups:
        parameter = by_name[group[0]]
        result.append(
            {
                "name": group[0],
                "shape": list(parameter.shape),
                "dtype": _dtype(parameter),
                "requires_grad": parameter.requires_grad,
                "initialiser": initialiser_of(group[0], parameter, init),
            }
        )
    return result


def _buffers(program: ExportedProgram) -> list[dict]:
    signature = program.graph_signature
    mutated = set(signature.buffers_to_mutate.values())
    result = []
    for spec in signature.input_specs:
        if spec.kind is not InputKind.BUFFER:
            continue
        store = program.state_dict if spec.persistent else program.constants
        value = store[spec.target]
        result.append(
            {
                "name": spec.target,
                "shape": list(value.shape),
                "dtype": _dtype(value),
                "persistent": bool(spec.persistent),
                "mutated": spec.target in mutated,
                "initialiser": _constant(value),
            }
        )
    return result


def _constant(value: torch.Tensor) -> dict | None:
    """A buffer that is one number everywhere; another's value is in the archive."""
    if value.numel() == 0 or not bool((value == value.flatten()[0]).all()):
        return None
    return {"kind": "constant", "value": value.flatten()[0].item()}


def _convention(program: ExportedProgram, labels) -> str:
    """How labels lie against tokens: `hf` when the model shifts them itself,
    `next-token` when it does not, `none` when it has no tokens.

    Evaluates what the graph does with numbered labels on the way to the target
    of the cross-entropy.
    """
    placeholders = {
        node.name: node for node in program.graph.nodes if node.op == "placeholder"
    }
    inputs = [
        placeholders[name]
        for name in program.graph_signature.user_inputs
        if isinstance(name, str) and name in placeholders
    ]
    tokens = [node for node in inputs if _is_tokens(node.meta.get("val"))]
    label = next((n for n in tokens if n.name in labels), None)
    # One token a label: a second sequence (an encoder's) is no token stream.
    lengths = [int(node.meta["val"].shape[1]) for node in tokens]
    if label is None or len(tokens) != 2 or lengths[0] != lengths[1]:
        return "none"
    loss = next(
        (n for n in program.graph.nodes if "cross_entropy" in str(n.target)), None
    )
    target = _evaluate(loss.args[1], inputs, label) if loss else None
    if target is None:
        raise ExportError(
            "the way from the labels to the loss expects a cross-entropy over them, "
            "got none that could be followed",
            "say it: convention='hf' when the model shifts the labels itself, "
            "'next-token' when it does not, 'none' when they are no tokens",
        )
    length = int(label.meta["val"].shape[1])
    first = target.flatten()[:length].tolist()
    return "hf" if first[: length - 1] == list(range(1, length)) else "next-token"


def _is_tokens(value) -> bool:
    return (
        isinstance(value, torch.Tensor)
        and value.dim() == 2
        and not value.is_floating_point()
        and value.dtype is not torch.bool
    )


def _evaluate(node, inputs, label) -> torch.Tensor | None:
    """The value of an integer sub-graph of the labels 0, 1, 2, ..., for a batch
    of two rows; the other inputs are there for their sizes."""
    values = {}
    for placeholder in inputs:
        value = placeholder.meta.get("val")
        if isinstance(value, torch.Tensor):
            shape = [n if isinstance(n, int) else 2 for n in value.shape]
            values[placeholder] = torch.zeros(shape, dtype=value.dtype)
    shape = values[label].shape
    values[label] = torch.arange(shape.numel()).reshape(shape)

    def value_of(argument):
        if argument not in values:
            if argument.op != "call_function":
                raise ValueError(argument.name)
            args = torch.fx.map_arg(argument.args, value_of)
            kwargs = torch.fx.map_arg(argument.kwargs, value_of)
            values[argument] = argument.target(*args, **kwargs)
        return values[argument]

    try:
        return value_of(node)
    except ValueError:
        return None
