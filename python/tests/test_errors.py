# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each error of the export, and the command line."""

import contextlib
import io
import resource
import sys
import tempfile
import unittest
from pathlib import Path

import smp
import torch
from smp import ExportError
from smp.exporter import build
from torch import nn
from torch.nn import functional as F


def recorded(make):
    with smp.record_initialisation():
        return make()


class FixedBatch(nn.Module):
    def forward(self, x):
        return x.reshape(2, -1).sum()


class Positional(nn.Module):
    def forward(self, *x):
        return x[0].sum()


class Raising(nn.Module):
    def forward(self, x):
        raise ValueError("boom")


class Smoothed(nn.Module):
    """Has tokens and labels, but no cross-entropy over them."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(8, 8)

    def forward(self, tokens, labels):
        logits = self.embedding(tokens)
        return (logits - F.one_hot(labels, 8)).square().mean()


class Errors(unittest.TestCase):
    def assert_error(self, message, model, inputs, loss=None, **options):
        with self.assertRaisesRegex(ExportError, message):
            build(model, inputs, loss, **options)

    def setUp(self):
        self.model = recorded(lambda: nn.Linear(4, 3))
        self.inputs = (torch.randn(2, 4), torch.randn(2, 3))

    def test_wrong_arguments(self):
        self.assert_error("arguments of the model's forward", self.model, ())
        self.assert_error("arguments of the model's forward", self.model, {"y": 1})
        inputs = (torch.randn(2, 4),)
        self.assert_error("'x'", Positional(), inputs)

    def test_inputs_that_do_not_fit(self):
        wide = (torch.randn(2, 5), torch.randn(2, 3))
        self.assert_error(
            "to pass through its forward, got RuntimeError", self.model, wide, F.mse_loss
        )
        self.assert_error(
            f"ValueError: boom\nnote: it is raised at {__file__}:", Raising(), wide[:1]
        )

    def test_batch(self):
        one = (torch.randn(1, 4), torch.randn(1, 3))
        self.assert_error("at least 2, got 1", self.model, one, F.mse_loss)
        self.assert_error("a batch of any size", FixedBatch(), (torch.randn(2, 4),))
        self.assert_error("a tensor with a batch", FixedBatch(), (3,))

    def test_labels(self):
        inputs = (torch.randn(2, 4), torch.randn(2, 3))
        self.assert_error(
            "labels expects inputs of the model, got 'target'",
            self.model, inputs, F.mse_loss, labels=("target",),
        )  # fmt: skip

    def test_loss(self):
        inputs = (torch.randn(2, 4),)
        self.assert_error("one scalar output as its loss, got 0", self.model, inputs)
        self.assert_error(
            "loss_output expects one of 'output', got 'cost'",
            self.model,
            inputs,
            loss_output="cost",
        )
        tokens = {
            "tokens": torch.zeros(2, 3).long(),
            "labels": torch.zeros(2, 3).long(),
        }
        model = recorded(Smoothed)
        self.assert_error(
            "expects a model without an input 'labels'", model, tokens, F.mse_loss
        )
        self.assert_error("expects a cross-entropy over them", model, tokens)
        build(model, tokens, convention="next-token")

    def test_options(self):
        self.assert_error(
            "an option out of .*, got 'wieghts'", self.model, self.inputs, wieghts=True
        )
        self.assert_error(
            "convention expects .*, got 'other'",
            self.model,
            self.inputs,
            convention="other",
        )

    def test_values(self):
        with smp.record_initialisation(), smp.empty_parameters():
            empty = nn.Linear(4, 3)
        self.assert_error(
            "'weight' expects a value, got a tensor on 'meta'",
            empty,
            self.inputs,
            F.mse_loss,
        )
        with smp.record_initialisation(), torch.device("meta"):
            empty = nn.BatchNorm1d(3)
        inputs = (torch.randn(2, 3), torch.randn(2, 3))
        self.assert_error(
            "buffer 'running_mean' expects a value",
            empty,
            inputs,
            F.mse_loss,
            weights=False,
        )

    def test_initialiser(self):
        model = nn.Linear(4, 3)
        self.assert_error("'weight' expects a known", model, self.inputs, F.mse_loss)
        init = {"weight": "normal(0,1)", ".*": "none"}
        found = build(model, self.inputs, F.mse_loss, init=init).description[
            "parameters"
        ]
        self.assertEqual(found[0]["initialiser"]["std"], 1.0)
        self.assertIsNone(found[1]["initialiser"])


FACTORY = """
def nothing():
    return None

def three():
    return 1, 2, 3

def needy(size):
    return None

import torch
from torch import nn
from torch.nn import functional as F

def linear():
    return nn.Linear(4, 3), (torch.randn(2, 4), torch.randn(2, 3)), F.mse_loss

def unknown():
    model = nn.Linear(4, 4)
    nn.init.orthogonal_(model.weight)
    return model, (torch.randn(2, 4), torch.randn(2, 4)), F.mse_loss
"""


class CommandLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "smp_factory.py").write_text(FACTORY)
        path = list(sys.path)
        self.addCleanup(lambda: sys.path.__setitem__(slice(None), path))
        self.addCleanup(lambda: sys.modules.pop("smp_factory", None))
        sys.path.insert(0, str(self.folder))

    def run_main(self, *arguments):
        import runpy

        out, err = io.StringIO(), io.StringIO()
        argv, sys.argv = sys.argv, ["smp.export", *arguments]
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                runpy.run_module("smp.export", run_name="__main__")
        except SystemExit as end:
            return end.code, out.getvalue(), err.getvalue()
        finally:
            sys.argv = argv
        return None

    def test_writes(self):
        path = self.folder / "linear.pt2"
        for more in ([], ["--no-weights"], ["--empty"]):
            code, out, err = self.run_main("smp_factory:linear", "-o", str(path), *more)
            self.assertEqual((code, err), (0, ""))
            self.assertIn(f"wrote '{path}'", out)

    def test_asks_for_the_initialiser(self):
        path = self.folder / "unknown.pt2"
        code, _, err = self.run_main("smp_factory:unknown", "-o", str(path))
        self.assertEqual(code, 1)
        self.assertIn("error: parameter 'weight' expects a known initialiser", err)
        self.assertIn("note: build the model inside", err)
        self.assertFalse(path.exists())
        init = ["--init", "weight=uniform(-1,1)"]
        self.assertEqual(
            self.run_main("smp_factory:unknown", "-o", str(path), *init)[0], 0
        )

    def test_full_disk(self):
        """Nothing is left, and the process goes on."""
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_FSIZE, before)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 11, before[1]))
        path = self.folder / "x.pt2"
        code, _, err = self.run_main("smp_factory:linear", "-o", str(path))
        self.assertEqual(code, 1)
        self.assertEqual(err, f"error: cannot write '{path}': File too large\n")
        self.assertEqual([p for p in self.folder.iterdir() if "pt2" in p.name], [])

    def test_wrong_arguments(self):
        out = ["-o", str(self.folder / "x.pt2")]
        for arguments, message in (
            (["smp_factory", *out], "expects MODULE:FUNCTION, got 'smp_factory'"),
            (["smp_nowhere:f", *out], "expects a module, got 'smp_nowhere'"),
            (["smp_factory:f", *out], "expects a function 'f', got none"),
            (
                ["smp_factory:linear", *out, "--init", "x"],
                "expects REGEX=INIT, got 'x'",
            ),
            (
                ["smp_factory:linear", *out, "--init", "(=none"],
                "init expects regular expressions, got '('",
            ),
            (
                ["smp_factory:linear", *out, "--init", "waight=none"],
                "match the name of a parameter, got 'waight'\nnote: the names are",
            ),
            (["smp_factory:nothing", *out], "expects to return a model"),
            (["smp_factory:three", *out], "a torch.nn.Module, got int"),
            (["smp_factory:needy", *out], "to be called without arguments"),
            (
                ["smp_factory:linear", "-o", str(self.folder)],
                "the output expects a file",
            ),
            (
                ["smp_factory:linear", "-o", str(self.folder / "no" / "x.pt2")],
                "the output expects an existing folder",
            ),
        ):
            code, _, err = self.run_main(*arguments)
            self.assertEqual(code, 1)
            self.assertIn(message, err)
        self.assertEqual(self.run_main("smp_factory:linear")[0], 2)


if __name__ == "__main__":
    unittest.main()
