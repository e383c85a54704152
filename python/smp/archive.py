# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes graphs, weights and description into one .pt2 archive.

The layout is that of `torch.export.save` with several models; what differs:
the weights are there once (the second graph's configuration points at the same
files), or not at all, and nothing in the archive names a path of the machine
that wrote it.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import re
import site
import sys

import torch
from torch._export.serde.serialize import serialize
from torch.export import ExportedProgram
from torch.export.pt2_archive import _package, constants

from .errors import ExportError

_TORCH, _SMP = 'File "torch/', 'File "smp/'
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')


def write_archive(
    path: str, programs: dict[str, ExportedProgram], description: dict, weights: bool
) -> None:
    """Writes the archive to `path`, complete or not at all."""
    path = os.path.realpath(path)
    temporary = f"{path}.tmp"
    try:
        # The writer names the archive's folder after the file; so that a
        # rename does not matter, the folder is always called the same.
        with open(temporary, "wb") as file:
            sink = _Sink(file)
            with _package.PT2ArchiveWriter(sink) as writer:
                _write_weights(writer, programs, weights)
                _write_constants(writer, programs)
                for name, program in programs.items():
                    _write_graph(writer, name, program)
                text = json.dumps(description, indent=1) + "\n"
                _package._package_extra_files(writer, {"smp.json": text})
            if sink.error:
                raise sink.error
        os.replace(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise ExportError(f"cannot write '{path}': {error.strerror}") from None


def check_path(path: str) -> None:
    """Whether an archive can be written there, before it is made."""
    path = os.path.realpath(path)
    if os.path.exists(path) and not os.path.isfile(path):
        raise ExportError(f"the output expects a file, got '{path}', which is none")
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise ExportError(f"the output expects an existing folder, got '{folder}'")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ExportError(f"the output expects a folder to write in, got '{folder}'")


class _Sink(io.RawIOBase):
    """Keeps the first error of a file for later: PyTorch's writer would end
    the process at the next one."""

    def __init__(self, file):
        self._file = file
        self.error: OSError | None = None

    def writable(self) -> bool:
        return True

    def write(self, data) -> int:
        size = memoryview(data).nbytes
        if self.error is None:
            try:
                self._file.write(data)
            except OSError as error:
                self.error = error
        return size


def _write_weights(writer, programs, weights: bool) -> None:
    first = next(iter(programs))
    state = programs[first].state_dict
    if not weights:
        programs[first]._state_dict = {
            name: _empty(value) if isinstance(value, torch.nn.Parameter) else value
            for name, value in state.items()
        }
    config = _package._package_state_dict(first, programs[first], writer)
    programs[first]._state_dict = state
    for name in programs:
        _package._package_payload_config(
            writer, config, constants.WEIGHTS_CONFIG_FILENAME_FORMAT.format(name)
        )


def _empty(parameter: torch.nn.Parameter) -> torch.nn.Parameter:
    return torch.nn.Parameter(
        parameter.detach().to("meta"), requires_grad=parameter.requires_grad
    )


def _write_constants(writer, programs) -> None:
    config, written = None, {}
    for name, program in programs.items():
        if config is None or not _same(program.constants, written):
            config = _package._package_constants(name, program, writer)
            written = program.constants
        _package._package_payload_config(
            writer, config, constants.CONSTANTS_CONFIG_FILENAME_FORMAT.format(name)
        )


def _same(one: dict, other: dict) -> bool:
    return one.keys() == other.keys() and all(
        isinstance(value, torch.Tensor) and torch.equal(value, other[name])
        for name, value in one.items()
    )


def _write_graph(writer, name: str, program: ExportedProgram) -> None:
    artifact = serialize(program, serialize_state_dict=False, serialize_constants=False)
    graph = json.loads(artifact.exported_program)
    _clean(graph)
    text = json.dumps(graph, separators=(",", ":"))
    writer.write_string(constants.MODELS_FILENAME_FORMAT.format(name), text)
    writer.write_bytes(
        constants.SAMPLE_INPUTS_FILENAME_FORMAT.format(name), artifact.example_inputs
    )


def _clean(value) -> None:
    """Drops how the tracer came to a node, makes stack traces relative."""
    if isinstance(value, list):
        for item in value:
            _clean(item)
    elif isinstance(value, dict):
        value.pop("from_node", None)
        value.pop("torch_fn", None)
        trace = value.get("stack_trace")
        if isinstance(trace, str):
            value["stack_trace"] = relative_trace(trace)
        for item in value.values():
            _clean(item)


def _roots() -> list[str]:
    """Folders that Python modules come from, the deepest first."""
    roots = [*sys.path, *site.getsitepackages(), os.getcwd()]
    absolute = {os.path.abspath(root) for root in roots}
    return sorted(absolute, key=len, reverse=True)


@functools.lru_cache(maxsize=None)
def relative_path(path: str) -> str:
    """A source file's path below the folder its package is found in."""
    if not os.path.isabs(path):
        return path
    for root in _roots():
        prefix = os.path.join(root, "")
        if path.startswith(prefix) and len(prefix) > 1:
            return path[len(prefix) :].replace(os.sep, "/")
    return os.path.basename(path)


@functools.lru_cache(maxsize=None)
def relative_trace(trace: str) -> str:
    """The innermost frame of a trace outside torch and smp (whose frames name
    no line of the model), or else the innermost of torch; its path relative."""
    frames = []
    for line in trace.splitlines():
        match = _FRAME.search(line)
        if match:
            line = line.replace(match[1], relative_path(match[1]))
            frames.append([line.strip()])
        elif frames:
            frames[-1].append(line)
    frames = [frame for frame in frames if not frame[0].startswith(_SMP)]
    own = [frame for frame in frames if not frame[0].startswith(_TORCH)]
    return "\n".join((own or frames or [[]])[-1])
