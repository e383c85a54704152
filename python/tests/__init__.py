# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the export: `python -m unittest` in the folder above.

They need what requirements.txt pins; without it they are skipped, with a line
that says so.
"""

import sys
import unittest
from pathlib import Path

try:
    import torch
except ModuleNotFoundError:
    raise unittest.SkipTest("the tests of the export need python/requirements.txt")

torch.set_num_threads(1)
MODELS = Path(__file__).resolve().parent.parent.parent / "test" / "models"
sys.path.insert(0, str(MODELS))
