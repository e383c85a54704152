# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference weights, against values worked out by hand with integers."""

import unittest

import numpy
from smp.reference import fnv1a64, reference_values, splitmix64

MASK = (1 << 64) - 1


def mix(value: int) -> int:
    value = (value + 0x9E3779B97F4A7C15) & MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
    return value ^ (value >> 31)


class Reference(unittest.TestCase):
    def test_published_hashes(self):
        self.assertEqual(fnv1a64(""), 0xCBF29CE484222325)
        self.assertEqual(fnv1a64("a"), 0xAF63DC4C8601EC8C)
        self.assertEqual(fnv1a64("foobar"), 0x85944171F73967E8)
        # The first outputs of SplitMix64 from the seed 0.
        gamma = 0x9E3779B97F4A7C15
        states = numpy.array([0, gamma], dtype=numpy.uint64)
        got = [int(value) for value in splitmix64(states)]
        self.assertEqual(got, [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4])

    def test_values(self):
        for name, shape, shift, scale in (
            ("head.weight", (3, 5), 0.0, 0.1),
            ("norm.weight", (7,), 1.0, 0.1),
            ("norm.bias", (7,), 0.0, 0.05),
        ):
            values = reference_values(name, shape).flatten().tolist()
            for index, got in enumerate(values):
                uniform = (mix((fnv1a64(name) + index) & MASK) >> 40) * 2.0**-24
                want = numpy.float32(shift + scale * (2.0 * uniform - 1.0))
                self.assertEqual(got, float(want))


if __name__ == "__main__":
    unittest.main()
