# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference weights: a function of a parameter's name and an index.

Both sides of a comparison compute them, so none are stored. Everything that is
written here is also what `--init=reference` does in the runtime.
"""

from __future__ import annotations

import numpy
import torch

_MASK = (1 << 64) - 1


def fnv1a64(name: str) -> int:
    """The FNV-1a hash of the UTF-8 bytes of a name, 64 bits."""
    value = 0xCBF29CE484222325
    for byte in name.encode("utf-8"):
        value = ((value ^ byte) * 0x100000001B3) & _MASK
    return value


def splitmix64(values: numpy.ndarray) -> numpy.ndarray:
    """The finaliser of SplitMix64, elementwise, its increment added first."""
    z = values.astype(numpy.uint64) + numpy.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    return z ^ (z >> numpy.uint64(31))


def reference_values(name: str, shape) -> torch.Tensor:
    """The float32 reference weights of the parameter `name`.

    A matrix is uniform in 0.1 * [-1, 1), a norm's scale close to 1, any other
    vector 0.05 * [-1, 1). Computed in double and rounded once.
    """
    count = int(numpy.prod(shape, dtype=numpy.int64))
    index = numpy.arange(count, dtype=numpy.uint64) + numpy.uint64(fnv1a64(name))
    uniform = (splitmix64(index) >> numpy.uint64(40)).astype(numpy.float64) * 2.0**-24
    signed = 2.0 * uniform - 1.0
    if len(shape) >= 2:
        values = 0.1 * signed
    elif name.endswith(".weight") or name == "weight":
        values = 1.0 + 0.1 * signed
    else:
        values = 0.05 * signed
    return torch.from_numpy(values.astype(numpy.float32)).reshape(tuple(shape))


def load_reference_weights(model: torch.nn.Module, canonical: dict[str, str]) -> None:
    """Gives every parameter of a model its reference weights.

    `canonical` maps an alias to the name that stands for its group, as the
    archive's description lists them.
    """
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            values = reference_values(canonical.get(name, name), parameter.shape)
            parameter.copy_(values)
