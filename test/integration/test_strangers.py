# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A rank that is not what the others are: all ranks end soon and say so."""

from __future__ import annotations

import re
import shutil
import unittest
from pathlib import Path

from faults import STALL, FaultTest, Job
from harness import BIN, main
from test_errors import STARTS_WITHIN
from test_layouts import config_of

MPIRUN = [
    "mpirun", "--quiet", "--oversubscribe", "--allow-run-as-root", "--bind-to",
    "none", "--mca", "pml", "ob1", "--mca", "btl", "self,vader", "--mca",
    "btl_vader_single_copy_mechanism", "none",
]  # fmt: skip
OTHER_MPI = ["env", f"LD_PRELOAD={BIN / 'libSmpOtherMpi.so'}"]


def late(words: list) -> list:
    """After a second: all that starts at once has started."""
    return ["sh", "-c", 'sleep 1; exec "$@"', "sh", *words]


def setUpModule() -> None:
    FaultTest.setUpModule(unittest.addModuleCleanup)


class Strangers(FaultTest):
    def start(self, *programs: list) -> Job:
        """One program for each rank."""
        words: list = []
        for program in programs:
            words += [*([":"] if words else []), "-n", 1, *program]
        job = self.launch([*MPIRUN, *words])
        job.end(STARTS_WITHIN)
        return job

    def own(self, *options: object) -> list:
        return self.words("mlp", "--init=reference", "--steps=3", *options)

    def together(self, stranger: list, *options: object) -> Job:
        own = self.own(*options)
        job = self.start(own, own, own, stranger)
        self.assertNotEqual(job.process.returncode, 0, job.errors)
        return job

    def expect(self, pattern: str, stranger: list, *options: object) -> None:
        """One error of all ranks, which names both."""
        job = self.together(stranger, *options)
        self.assertRegex(job.errors, pattern)
        self.assertEqual(job.errors.count("smp-run: "), 1, job.errors)

    def assertSurvivors(self, job: Job, how: str) -> None:
        """A line of each rank but the last."""
        self.assertNotEqual(job.process.returncode, 0, job.errors)
        lines = re.findall(rf"rank (\d): {how} during start", job.errors)
        self.assertEqual(sorted(lines), ["0", "1", "2"], job.errors)

    def test_another_job(self) -> None:
        other = self.compile("mlp", config_of(2, 1, "simple"))
        words = self.own()
        words[1] = other
        self.expect(
            rf"expects the same job on all ranks, got '{self.job('mlp')}' \(hash \w+\) "
            rf"on rank 0 and '{other}' \(hash \w+\) on rank 3",
            words,
        )

    def test_an_error_that_one_rank_learns_last(self) -> None:
        """Rank 0, which says what all know. Others have ended by then."""
        missing = self.words("mlp", "--init=/nowhere.safetensors", "--steps=3")
        slow = [*OTHER_MPI, "SMP_TEST_SLOW=1", *missing]
        job = self.start(slow, missing, missing, missing)
        self.assertEqual(job.errors.count("error: "), 1, job.errors)
        self.assertIn("cannot open '/nowhere.safetensors': No such file", job.errors)

    def test_another_build(self) -> None:
        """A program of other bytes."""
        other = Path(shutil.copy(BIN / "smp-run", self.path("smp-run")))
        with open(other, "ab") as file:
            file.write(b"\n")
        words = self.own()
        words[0] = other
        self.expect(
            rf"expects the same build of smp-run on all ranks, got '{BIN}/smp-run' "
            rf"\(build \w+\) on rank 0 and '{other}' \(build \w+\) on rank 3",
            words,
        )

    def test_other_options(self) -> None:
        words = self.words("mlp", "--init=reference")
        for options, pattern in (
            (["--steps=5"], "'--steps' expects .*, got '3' on rank 0 and '5' on rank 3"),
            (["--steps=3", "--seed=1"], "'--seed' .* none on rank 0 and '1' on rank 3"),
            (["--steps=3", "--poison"], "'--poison' .* none on rank 0 and set on rank 3"),
            (
                ["--steps=3", "--eval-data", self.data("mlp")],
                "'--eval-data' .* none on rank 0 and a file on rank 3",
            ),
        ):
            with self.subTest(options=options):
                self.expect(f"error: option {pattern}", [*words, *options])
        # A file may have another name there, and threads are a rank's own matter.
        own = self.own()
        copy = shutil.copy(own[3], self.path("copy.safetensors"))
        same = ["--data", copy, "--init=reference", "--steps=3", "--threads=2"]
        stranger = [*words[:2], *same]
        job = self.start(own, own, own, stranger)
        self.assertEqual(job.process.returncode, 0, job.errors)

    def test_another_version_of_mpi(self) -> None:
        self.expect(
            r"expects the same MPI on all ranks, got '.+' on rank 0 and 'Another "
            r"MPI v1' on rank 3",
            [*OTHER_MPI, *self.own()],
        )

    def test_an_mpi_that_does_not_connect(self) -> None:
        """It makes a world of its own, of one rank."""
        job = self.together(late([*OTHER_MPI, "SMP_TEST_ALONE=1", *self.own()]))
        self.assertIn(
            "expects the world of OMPI_COMM_WORLD_SIZE, '4' ranks, got 1", job.errors
        )
        self.assertSurvivors(job, "(?:lost rank 3|terminated)")

    def test_another_program(self) -> None:
        job = self.together([BIN / "SmpCommVictim", "steps"], f"--stall-timeout={STALL}")
        self.assertIn(
            f"expects rank 3 to say what it is within {STALL} s, got nothing", job.errors
        )

    def test_a_program_that_knows_no_mpi(self) -> None:
        job = self.together(["sleep", 2])
        self.assertSurvivors(job, "lost rank 3")

    def test_a_program_that_nobody_has_seen(self) -> None:
        own = late(self.own(f"--stall-timeout={STALL}"))
        job = self.start(own, own, own, ["true"])
        self.assertSurvivors(job, "no sign of life from rank 3")


if __name__ == "__main__":
    main()
