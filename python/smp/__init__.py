# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smp's side of PyTorch: exporting a model for the compiler."""

from .errors import ExportError
from .exporter import export
from .initialisers import empty_parameters, record_initialisation

__all__ = ["ExportError", "empty_parameters", "export", "record_initialisation"]
