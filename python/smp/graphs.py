# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a module to a decomposed graph with one symbolic batch dimension."""

from __future__ import annotations

import contextlib
import copy
import inspect
import logging
import os
import traceback

import torch
from torch._dynamo.exc import UserError
from torch.export import Dim, ExportedProgram
from torch.fx.experimental.symbolic_shapes import ConstraintViolationError
from torch.utils import _pytree as pytree

from .errors import ExportError

BATCH = "batch"


def bind_inputs(forward, example_inputs, labelled: bool = False) -> dict:
    """The example inputs by the name of the parameter of `forward` they bind;
    the last of a tuple are the labels when the export adds the loss.

    Tensors are copied: one object given twice would be one input of the graph,
    and the model would read its labels as its tokens.
    """
    if isinstance(example_inputs, torch.Tensor):
        example_inputs = (example_inputs,)
    if isinstance(example_inputs, dict):
        args, kwargs = (), dict(example_inputs)
    else:
        args, kwargs = tuple(example_inputs), {}
    if labelled and args:
        *args, kwargs["labels"] = args
    try:
        bound = inspect.signature(forward).bind(*args, **kwargs).arguments
    except TypeError as error:
        raise ExportError(
            f"example_inputs expects the arguments of the model's forward: {error}"
        ) from None
    for parameter in inspect.signature(forward).parameters.values():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            bound.update(bound.pop(parameter.name, {}))
        elif parameter.name in bound and parameter.kind in (
            inspect.Parameter.VAR_POSITIONAL,
            inspect.Parameter.POSITIONAL_ONLY,
        ):
            raise ExportError(
                "the model's forward expects arguments with names, got the "
                f"positional '{parameter.name}'"
            )
    return pytree.tree_map_only(torch.Tensor, torch.Tensor.clone, dict(bound))


def batch_size(inputs: dict) -> int:
    sizes = [
        value.shape[0]
        for value in pytree.tree_leaves(inputs)
        if isinstance(value, torch.Tensor) and value.dim() > 0
    ]
    if not sizes:
        raise ExportError("example_inputs expects a tensor with a batch, got none")
    if sizes[0] < 2:
        raise ExportError(
            f"example_inputs expects a batch of at least 2, got {sizes[0]}",
            "with a batch of one the export cannot tell it from a constant",
        )
    return sizes[0]


def has_batch(value, batch: int) -> bool:
    """Whether dimension 0 of an input is the batch: it has the first's size."""
    return (
        isinstance(value, torch.Tensor) and value.dim() > 0 and value.shape[0] == batch
    )


def with_loss(model: torch.nn.Module, loss) -> torch.nn.Module:
    """The model returning (loss, outputs), with one more input `labels`.

    A shallow copy under a subclass and not a wrapping module, so that the
    names of parameters and modules stay those of the model.
    """
    signature = inspect.signature(model.forward)
    if "labels" in signature.parameters:
        raise ExportError(
            "loss expects a model without an input 'labels', got one that has it",
            "leave loss out: the model computes its own",
        )
    labels = inspect.Parameter("labels", inspect.Parameter.KEYWORD_ONLY)
    parameters = [*signature.parameters.values()]
    keyword = inspect.Parameter.VAR_KEYWORD
    position = next(
        (i for i, p in enumerate(parameters) if p.kind is keyword), len(parameters)
    )
    parameters.insert(position, labels)
    original = type(model)

    def forward(self, *args, labels, **kwargs):
        outputs = original.forward(self, *args, **kwargs)
        return loss(outputs, labels), outputs

    this = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    forward.__signature__ = inspect.Signature([this, *parameters])
    result = copy.copy(model)
    result.__class__ = type(original.__name__, (original,), {"forward": forward})
    result.__class__.__module__ = original.__module__
    return result


@contextlib.contextmanager
def _with_storage(model: torch.nn.Module):
    """Gives parameters on 'meta' a place on the CPU while the model is traced.

    The memory is reserved and never touched. Traced as they are, they would
    not go together with inputs and buffers that are real.
    """
    originals, replaced = [], {}
    for module in model.modules():
        for name, old in module._parameters.items():
            if old is None or old.device.type != "meta":
                continue
            if id(old) not in replaced:
                replaced[id(old)] = torch.nn.Parameter(
                    torch.empty_like(old, device="cpu"), requires_grad=old.requires_grad
                )
            module._parameters[name] = replaced[id(old)]
            originals.append((module, name, old))
    try:
        yield
    finally:
        for module, name, old in originals:
            module._parameters[name] = old


def trace(model: torch.nn.Module, inputs: dict, training: bool) -> ExportedProgram:
    """The decomposed graph of the model in training or evaluation mode."""
    batch = batch_size(inputs)
    dim = Dim(BATCH, min=1)
    shapes = pytree.tree_map(
        lambda v: {0: dim} if has_batch(v, batch) else None, inputs
    )
    modes = {module: module.training for module in model.modules()}
    model.train(training)
    try:
        with _with_storage(model), _without_log():
            program = torch.export.export(
                model,
                (),
                inputs,
                dynamic_shapes=_by_parameter(model, shapes),
                strict=False,
            )
    except (UserError, ConstraintViolationError) as error:
        raise ExportError(
            f"the model expects a batch of any size, got one that fixes it: {error}"
        ) from error
    except ExportError:
        raise
    except Exception as error:
        # Of many kinds: whatever the model's own code raises, too.
        raise ExportError(
            "the model expects its example inputs to pass through its forward, "
            f"got {type(error).__name__}: {_first_line(error)}",
            _place(error),
        ) from error
    finally:
        for module, mode in modes.items():
            module.training = mode
    _detach_gradient_free(program.graph_module)
    _keep_losses_of_rows(program.graph_module)
    return program.run_decompositions({})


@contextlib.contextmanager
def _without_log():
    """torch logs the traceback of an error that it raises as well."""
    log = logging.getLogger("torch._subclasses.fake_tensor")
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(level)


def _first_line(error: Exception) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), "")


def _place(error: Exception) -> str:
    """The innermost line outside torch and smp, where there is one."""
    ours = (os.path.dirname(torch.__file__), os.path.dirname(__file__), "<")
    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        if not frame.filename.startswith(ours):
            return f"it is raised at {frame.filename}:{frame.lineno}"
    return ""


def _by_parameter(model, shapes: dict) -> dict:
    """The shapes in the order of the signature, extra ones under **kwargs."""
    result, extra = {}, dict(shapes)
    for parameter in inspect.signature(model.forward).parameters.values():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            if extra:
                result[parameter.name] = extra
        elif parameter.name in extra:
            result[parameter.name] = extra.pop(parameter.name)
    return result


def _detach_gradient_free(module: torch.fx.GraphModule) -> None:
    """Puts a detach on what leaves a `torch.no_grad()` region.

    Decomposition inlines these regions without a mark, so that gradients would
    flow through them.
    """
    higher_order = torch.ops.higher_order.wrap_with_set_grad_enabled
    for node in list(module.graph.nodes):
        if node.op != "call_function" or node.target is not higher_order:
            continue
        region = getattr(module, node.args[1].target)
        _detach_gradient_free(region)
        if not node.args[0]:
            _detach_outputs(region)


def _detach_outputs(region: torch.fx.GraphModule) -> None:
    graph = region.graph
    output = graph.output_node()

    def detach(value):
        if not isinstance(value, torch.fx.Node):
            return value
        tensor = value.meta.get("val")
        if not isinstance(tensor, torch.Tensor) or not tensor.is_floating_point():
            return value
        with graph.inserting_before(output):
            node = graph.call_function(torch.ops.aten.detach.default, (value,))
        node.meta = dict(value.meta)
        node.meta["val"] = tensor.detach()
        return node

    output.args = torch.fx.map_arg(output.args, detach)
    region.recompile()


def _keep_losses_of_rows(module: torch.fx.GraphModule) -> None:
    """Writes losses that are not reduced, of rows, as those of rows with one
    place each.

    Where the number of rows is symbolic, decomposition takes the first for a
    scalar (torch 2.15), and all that is made of them for what that gives.
    """
    aten = torch.ops.aten
    losses = (aten.cross_entropy_loss.default, aten.nll_loss_nd.default)
    for node in list(module.graph.nodes):
        if node.target is torch.ops.higher_order.wrap_with_set_grad_enabled:
            _keep_losses_of_rows(getattr(module, node.args[1].target))
        value = node.meta.get("val")
        if node.target not in losses or value is None or value.dim() != 1:
            continue
        if any(operand.meta["val"].dim() != rank for operand, rank in zip(node.args, (2, 1))):
            continue  # probabilities as labels keep their shape
        with module.graph.inserting_before(node):
            wide = [_like(node, aten.unsqueeze.default, operand, -1) for operand in node.args[:2]]
        node.args = (*wide, *node.args[2:])
        node.meta["val"] = value.unsqueeze(-1)
        with module.graph.inserting_after(node):
            rows = _like(node, aten.squeeze.dim, node, -1)
        node.replace_all_uses_with(rows, lambda user, rows=rows: user is not rows)
    module.recompile()


def _like(node: torch.fx.Node, target, operand: torch.fx.Node, dim: int) -> torch.fx.Node:
    """A call at the same place of the model."""
    made = node.graph.call_function(target, (operand, dim))
    made.meta = dict(node.meta)
    made.meta["val"] = target(operand.meta["val"], dim)
    return made
