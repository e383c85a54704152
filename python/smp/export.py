# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m smp.export`: exports the model that a function returns."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import inspect
import os
import sys

from smp.errors import ExportError
from smp.exporter import CONVENTIONS, export
from smp.initialisers import empty_parameters, record_initialisation

_EPILOG = """\
exit codes: 0 written, 1 the model cannot be exported, 2 wrong arguments

example:
  python -m smp.export my_models:gpt -o gpt.pt2 --no-weights
with, in my_models.py:
  def gpt():
      return GPT(layers=6), {"tokens": tokens, "labels": labels}
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m smp.export",
        description="Exports a PyTorch model to an archive that smp-import reads.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add(
        "factory",
        metavar="MODULE:FUNCTION",
        help="function without arguments that returns (model, example inputs) or "
        "(model, example inputs, loss function)",
    )
    add("-o", "--output", required=True, metavar="FILE", help="archive to write (.pt2)")
    add(
        "--no-weights",
        action="store_true",
        help="leave the parameters' values out (default: keep them)",
    )
    add(
        "--empty",
        action="store_true",
        help="build the model without storage for parameters; implies --no-weights",
    )
    add(
        "--init",
        action="append",
        default=[],
        metavar="REGEX=INIT",
        help="initialiser of the parameters whose name matches, where none is "
        "recorded: normal(mean,std), uniform(low,high), constant(value), "
        "truncated_normal(mean,std,low,high) or none; "
        "may be given several times, the first match counts",
    )
    add(
        "--labels",
        metavar="NAME,...",
        help="inputs that are labels (default: label, labels, target, targets)",
    )
    add("--loss-output", metavar="NAME", help="output that is the loss (default: loss)")
    add(
        "--convention",
        choices=CONVENTIONS,
        help="how labels lie against tokens (default: derived from the graph)",
    )
    return parser


def _factory(text: str):
    module_name, _, function_name = text.partition(":")
    if not function_name:
        raise ExportError(f"the factory expects MODULE:FUNCTION, got '{text}'")
    sys.path.insert(0, os.getcwd())
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise ExportError(f"the factory expects a module, got '{error.name}'") from None
    function = getattr(module, function_name, None)
    if not callable(function):
        raise ExportError(
            f"module '{module_name}' expects a function '{function_name}', got none"
        )
    try:
        inspect.signature(function).bind()
    except TypeError as error:
        raise ExportError(
            f"'{text}' expects to be called without arguments: {error}"
        ) from None
    return function


def _parts(made, name: str) -> tuple:
    """The model, its inputs and maybe a loss, as the factory returned them."""
    if not isinstance(made, tuple) or len(made) not in (2, 3):
        got = f"{len(made)} values" if isinstance(made, tuple) else type(made).__name__
        raise ExportError(
            f"'{name}' expects to return a model, example inputs and, where the "
            f"model has none, a loss, got {got}"
        )
    return made


def _options(arguments) -> dict:
    init = {}
    for entry in arguments.init:
        pattern, equals, value = entry.rpartition("=")
        if not equals:
            raise ExportError(f"--init expects REGEX=INIT, got '{entry}'")
        init.setdefault(pattern, value)
    options = {
        "weights": not (arguments.no_weights or arguments.empty),
        "init": init,
        "loss_output": arguments.loss_output,
        "convention": arguments.convention,
    }
    if arguments.labels:
        options["labels"] = tuple(arguments.labels.split(","))
    return options


def main(argv=None) -> int:
    arguments = _parser().parse_args(argv)
    empty = empty_parameters() if arguments.empty else contextlib.nullcontext()
    try:
        options = _options(arguments)
        factory = _factory(arguments.factory)
        with record_initialisation(), empty:
            made = factory()
        model, inputs, *loss = _parts(made, arguments.factory)
        export(model, inputs, arguments.output, *loss, **options)
    except ExportError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    size = os.path.getsize(arguments.output)
    print(f"wrote '{arguments.output}' ({size} bytes)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
