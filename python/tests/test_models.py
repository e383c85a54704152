# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The committed archives and reference data are what PyTorch gives today."""

import contextlib
import io
import unittest

import make_reference
from models import MODELS


class Committed(unittest.TestCase):
    def test_made_again(self):
        for model in MODELS:
            with self.subTest(model.name), contextlib.redirect_stdout(io.StringIO()):
                found = make_reference.check(model, make_reference.HERE / "data")
                self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main()
