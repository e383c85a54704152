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

    def test_no_path_of_the_exporting_machine(self):
        for model in MODELS:
            for name, content in make_reference.entries(
                make_reference.HERE / "data" / f"{model.name}.pt2"
            ).items():
                for text in (b'File \\"/', b"site-packages", b"/home/", b"/tmp/"):
                    self.assertNotIn(text, content, f"{model.name}: {name}")


if __name__ == "__main__":
    unittest.main()
