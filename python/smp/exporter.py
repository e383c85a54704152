# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`smp.export`: a PyTorch model as one archive that smp-import reads."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, field

import torch

from . import archive, graphs
from .description import LABELS, describe
from .errors import ExportError
from .initialisers import parse_initialiser

CONVENTIONS = ("hf", "next-token", "none")


@dataclass
class Options:
    """What the description needs to know beside model and graph."""

    weights: bool = True
    labels: tuple[str, ...] = LABELS
    loss_output: str | None = None
    convention: str | None = None
    init: list = field(default_factory=list)
    batch: int = 0
    # Whether the loss was put around the model by the export.
    wrapped: bool = False


@dataclass
class Export:
    """The two graphs and their description, before they are written."""

    programs: dict
    description: dict


def export(model, example_inputs, path, loss=None, **options) -> None:
    """Exports `model` to the archive `path`.

    The training graph and the evaluation graph are traced with
    `example_inputs` (a tuple of positional or a dict of named arguments of the
    model's forward, of a batch of at least two rows); the batch may be any
    size later. `loss` turns a model that returns outputs into one that returns
    `(loss(outputs, labels), outputs)` with an input `labels`.

    Options: `weights=False` leaves the parameters' values out; `init` maps
    regular expressions on parameter names to initialisers where none was
    recorded (`{".*": "normal(0,0.02)"}`); `labels` names the inputs that are
    labels; `loss_output` names the output that is the loss; `convention` is
    'hf', 'next-token' or 'none' where it cannot be derived.
    """
    archive.check_path(str(path))
    result = build(model, example_inputs, loss, **options)
    weights = result.description["weights"]
    archive.write_archive(str(path), result.programs, result.description, weights)


def build(model, example_inputs, loss=None, **options) -> Export:
    """The graphs and the description that `export` writes."""
    options = _checked(options)
    _check_model(model, options.init)
    _check_values(model, options.weights)
    options.wrapped = loss is not None
    traced = graphs.with_loss(model, loss) if loss else model
    with _without_cache(traced):
        inputs = graphs.bind_inputs(traced.forward, example_inputs, options.wrapped)
        options.batch = graphs.batch_size(inputs)
        programs = {
            "model": graphs.trace(traced, inputs, training=True),
            "eval": graphs.trace(traced, inputs, training=False),
        }
    return Export(programs, describe(traced, programs, inputs, options))


def _checked(options: dict) -> Options:
    known = ("weights", "init", "labels", "loss_output", "convention")
    for name in options:
        if name not in known:
            raise ExportError(
                f"export expects an option out of {', '.join(known)}, got '{name}'"
            )
    result = Options(**options)
    if result.convention not in (None, *CONVENTIONS):
        raise ExportError(
            "convention expects 'hf', 'next-token' or 'none', "
            f"got '{result.convention}'"
        )
    init = dict(result.init or {})
    for pattern in init:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ExportError(
                f"init expects regular expressions, got '{pattern}': {error}"
            ) from None
    result.init = [
        (pattern, parse_initialiser(value) if isinstance(value, str) else value)
        for pattern, value in init.items()
    ]
    if isinstance(result.labels, str):
        result.labels = (result.labels,)
    return result


def _check_model(model, init: list) -> None:
    if not isinstance(model, torch.nn.Module):
        raise ExportError(
            f"the model expects to be a torch.nn.Module, got {type(model).__name__}"
        )
    names = [name for name, _ in model.named_parameters(remove_duplicate=False)]
    for pattern, _ in init:
        if not any(re.search(pattern, name) for name in names):
            raise ExportError(
                "init expects expressions that match the name of a parameter, "
                f"got '{pattern}'",
                f"the names are such as '{names[0]}'" if names else "it has none",
            )


def _check_values(model: torch.nn.Module, weights: bool) -> None:
    for name, parameter in model.named_parameters():
        if weights and parameter.device.type == "meta":
            raise ExportError(
                f"parameter '{name}' expects a value, got a tensor on 'meta'",
                "leave the weights out with weights=False (--no-weights)",
            )
    for name, buffer in model.named_buffers():
        if buffer.device.type == "meta":
            raise ExportError(
                f"buffer '{name}' expects a value, got a tensor on 'meta'",
                "build the model inside 'with smp.empty_parameters():' (--empty), "
                "which keeps buffers",
            )


@contextlib.contextmanager
def _without_cache(model):
    """Training keeps no keys and values of earlier tokens. Encoder and decoder
    may have configurations of their own."""
    configs = [getattr(module, "config", None) for module in model.modules()]
    cached = [c for c in configs if getattr(c, "use_cache", None) is True]
    for config in cached:
        config.use_cache = False
    try:
        yield
    finally:
        for config in cached:
            config.use_cache = True
