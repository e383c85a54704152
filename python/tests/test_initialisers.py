# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the recorder makes of the ways in which models initialise."""

import math
import unittest

import torch
from smp import ExportError, empty_parameters, record_initialisation
from smp.initialisers import initialiser_of, parse_initialiser
from torch import nn


def recorded(write, shape=(6, 4)):
    """The initialiser of a parameter after `write(parameter)`."""
    with record_initialisation():
        parameter = nn.Parameter(torch.empty(shape))
        with torch.no_grad():
            write(parameter)
    return initialiser_of("weight", parameter, [])


class Recorded(unittest.TestCase):
    def test_normal(self):
        got = recorded(lambda p: nn.init.normal_(p, 0.5, 0.02))
        self.assertEqual(got, {"kind": "normal", "mean": 0.5, "std": 0.02})

    def test_uniform(self):
        got = recorded(lambda p: p.uniform_(-0.5, 0.25))
        self.assertEqual(got, {"kind": "uniform", "low": -0.5, "high": 0.25})

    def test_constants(self):
        for write, value in (
            (nn.init.zeros_, 0.0),
            (nn.init.ones_, 1.0),
            (lambda p: p.fill_(0.5), 0.5),
            (lambda p: p.data.zero_(), 0.0),
        ):
            self.assertEqual(recorded(write), {"kind": "constant", "value": value})

    def test_kaiming_and_xavier_are_their_distribution(self):
        got = recorded(lambda p: nn.init.kaiming_uniform_(p, a=math.sqrt(5)))
        self.assertAlmostEqual(got["high"], 0.5)
        self.assertEqual(got["low"], -got["high"])
        got = recorded(nn.init.xavier_normal_)
        self.assertAlmostEqual(got["std"], math.sqrt(2 / 10))

    def test_the_last_write_wins(self):
        def write(parameter):
            nn.init.normal_(parameter)
            nn.init.constant_(parameter, 3.0)

        self.assertEqual(recorded(write), {"kind": "constant", "value": 3.0})

    def test_scaled_and_shifted(self):
        got = recorded(lambda p: p.normal_().mul_(0.1).add_(2.0))
        self.assertEqual(got["kind"], "normal")
        self.assertAlmostEqual(got["mean"], 2.0)
        self.assertAlmostEqual(got["std"], 0.1)

    def test_a_negative_scale_keeps_the_ends_in_order(self):
        got = recorded(lambda p: p.uniform_(0.0, 1.0).mul_(-2.0))
        self.assertEqual(got, {"kind": "uniform", "low": -2.0, "high": 0.0})

    def test_made_from_a_tensor(self):
        with record_initialisation():
            parameter = nn.Parameter(torch.randn(3, 4) * 0.5)
        got = initialiser_of("weight", parameter, [])
        self.assertEqual(got, {"kind": "normal", "mean": 0.0, "std": 0.5})

    def test_copied(self):
        got = recorded(lambda p: p.copy_(torch.full((6, 4), 7.0)))
        self.assertEqual(got, {"kind": "constant", "value": 7.0})

    def test_truncated_normal(self):
        got = recorded(lambda p: nn.init.trunc_normal_(p, 0.1, 0.02, -0.5, 0.5))
        self.assertEqual(got["kind"], "truncated_normal")
        self.assertAlmostEqual(got["mean"], 0.1)
        self.assertAlmostEqual(got["std"], 0.02)
        self.assertEqual((got["low"], got["high"]), (-0.5, 0.5))

    def test_padded_by_nothing(self):
        with record_initialisation():
            bias = torch.zeros(4)
            kept = nn.functional.pad(bias, (0, 0))
            padded = nn.functional.pad(bias, (0, 2))
        self.assertEqual(initialiser_of("a", kept, [])["value"], 0.0)
        with self.assertRaises(ExportError):
            initialiser_of("a", padded, [])

    def test_without_storage(self):
        with record_initialisation(), empty_parameters():
            layer = nn.Linear(16, 3)
            nn.init.normal_(layer.weight, std=0.25)
        self.assertEqual(layer.weight.device.type, "meta")
        got = initialiser_of("weight", layer.weight, [])
        self.assertEqual(got["std"], 0.25)
        self.assertEqual(initialiser_of("bias", layer.bias, [])["high"], 0.25)


class Unknown(unittest.TestCase):
    def assert_unknown(self, write):
        with self.assertRaisesRegex(
            ExportError, "'weight' expects a known initialiser, got none recorded"
        ) as caught:
            recorded(write)
        self.assertIn("--init", caught.exception.note)

    def test_nothing_written(self):
        self.assert_unknown(lambda p: None)

    def test_orthogonal(self):
        self.assert_unknown(nn.init.orthogonal_)

    def test_a_part_written(self):
        def write(parameter):
            nn.init.normal_(parameter)
            parameter[0].fill_(0.5)

        with self.assertRaisesRegex(
            ExportError,
            r"expects one initialiser, got normal\(0,1\) of which a part was written "
            "again, and not with one row of zeros",
        ) as caught:
            recorded(write)
        self.assertIn("--init 'weight=normal(0,1)'", caught.exception.note)

    def test_a_part_of_something_unknown(self):
        self.assert_unknown(lambda p: p[0].fill_(0.0))

    def test_a_padding_row(self):
        with record_initialisation():
            table = nn.Embedding(5, 3, padding_idx=0)
        known = initialiser_of("weight", table.weight, [])
        self.assertEqual(
            known, {"kind": "normal", "mean": 0.0, "std": 1.0, "zeroed": [0, 3]}
        )

    def test_a_padding_row_behind_others(self):
        def write(parameter):
            nn.init.normal_(parameter, std=0.5)
            parameter[2].zero_()
            parameter.mul_(0.1)

        self.assertEqual(recorded(write)["zeroed"], [8, 12])
        self.assertAlmostEqual(recorded(write)["std"], 0.05)

    def test_two_padding_rows(self):
        def write(parameter):
            nn.init.normal_(parameter)
            parameter[0].zero_()
            parameter[2].zero_()

        with self.assertRaisesRegex(ExportError, "expects one initialiser"):
            recorded(write)

    def test_a_padding_row_that_is_shifted(self):
        def write(parameter):
            nn.init.normal_(parameter)
            parameter[0].zero_()
            parameter.add_(1.0)

        with self.assertRaisesRegex(ExportError, "expects one initialiser"):
            recorded(write)

    def test_a_mixture(self):
        self.assert_unknown(lambda p: p.normal_().add_(torch.rand(6, 4)))

    def test_written_outside(self):
        with record_initialisation():
            other = nn.Parameter(torch.zeros(3))
        del other
        with self.assertRaises(ExportError):
            initialiser_of("weight", nn.Parameter(torch.zeros(3)), [])

    def test_said_by_the_user(self):
        init = [("bias$", {"kind": "constant", "value": 0.0}), (".*", None)]
        parameter = nn.Parameter(torch.empty(3))
        self.assertEqual(initialiser_of("a.bias", parameter, init)["value"], 0.0)
        self.assertIsNone(initialiser_of("a.weight", parameter, init))


class Parsed(unittest.TestCase):
    def test_forms(self):
        self.assertEqual(
            parse_initialiser("normal(0, 0.02)"),
            {"kind": "normal", "mean": 0.0, "std": 0.02},
        )
        self.assertEqual(
            parse_initialiser("uniform(-1,1)"),
            {"kind": "uniform", "low": -1.0, "high": 1.0},
        )
        self.assertEqual(
            parse_initialiser("constant(1)"), {"kind": "constant", "value": 1.0}
        )
        self.assertEqual(
            parse_initialiser("truncated_normal(0,0.02,-0.04,0.04)"),
            {
                "kind": "truncated_normal",
                "mean": 0.0,
                "std": 0.02,
                "low": -0.04,
                "high": 0.04,
            },
        )
        self.assertIsNone(parse_initialiser("none"))

    def test_errors(self):
        for text in ("", "normal", "normal(1)", "normal(a,b)", "none(1)", "gauss(0,1)",
                     "normal(0,-1)", "uniform(3,1)", "constant(nan)"):  # fmt: skip
            with self.assertRaisesRegex(ExportError, "an initialiser expects"):
                parse_initialiser(text)


if __name__ == "__main__":
    unittest.main()
