# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whatever breaks, whenever: every survivor says so, all ranks end soon, and
the last checkpoint is whole.

The moments and victims follow from a seed, which is printed; SMP_TEST_SEED
repeats it.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from faults import RANKS, STALL, FaultTest, answers_termination, marked
from harness import main
from test_errors import FOREVER, STARTS_WITHIN, ranks_below

SEED = int(os.environ.get("SMP_TEST_SEED") or random.SystemRandom().randrange(10**6))
ENDS_WITHIN = 10  # seconds after a death, or after the stall timeout
AT_ONCE = 4  # cases, since most of their time is waiting
# At the start, whom mpirun ends before it has looked around says "terminated".
# "lost rank 2 while waiting for it: recv act.c0-c1, microbatch 3, step 12"
SURVIVOR = re.compile(
    r"smp-run: rank (?P<rank>\d): (?:(?P<how>lost rank|no sign of life from rank) "
    r"(?P<lost>\d)|terminated) "
    r"(?P<what>(?:while waiting for (?:it|rank \d): |during )\S.*)"
)


def setUpModule() -> None:
    FaultTest.setUpModule(unittest.addModuleCleanup)


@dataclass
class Moment:
    index: int
    kind: str  # what goes on then
    signal: int
    victim: int
    model: str
    after: int  # lines of metrics
    delay: float  # seconds after that
    resumes_with: str


def choose_moments() -> list[Moment]:
    """Each of four kinds five times; half of them kill, half stop."""
    source = random.Random(SEED)
    kinds = ["start", "steps", "evaluation", "saving"]
    moments = []
    for i in range(20):
        kind = kinds[i % 4]
        moments.append(
            Moment(
                i, kind, (signal.SIGKILL, signal.SIGSTOP)[(i + i // 4) % 2],
                source.randrange(RANKS), source.choice(["mlp", "mlp", "gpt2"]),
                source.randrange(1, 5), source.uniform(0, 0.25),
                source.choice(["threads", "threads", "mpi"]),
            )
        )  # fmt: skip
    return moments


class Moments(FaultTest):
    OPTIONS = {
        "start": ["--save-every=1"],
        "steps": ["--save-every=2"],
        "evaluation": ["--eval-every=1", "--save-every=2"],
        "saving": ["--save-every=1"],
    }

    def strike(self, moment: Moment) -> str:
        checkpoints, metrics = self.path("checkpoints"), self.path("run.jsonl")
        words = self.words(
            moment.model, "--init=reference", f"--ranks={RANKS}",
            f"--steps={FOREVER}", f"--stall-timeout={STALL}", "--metrics", metrics,
            "--checkpoint-dir", checkpoints, *self.OPTIONS[moment.kind],
        )  # fmt: skip
        if moment.kind == "evaluation":
            words += ["--eval-data", self.data(moment.model)]
        job = self.launch(words)
        ranks: list[int] = []

        def all_are_there() -> bool:
            ranks[:] = ranks_below(job.process.pid)
            return len(ranks) == RANKS

        job.until(all_are_there, "all ranks had started")
        if moment.kind != "start":
            job.until(
                lambda: metrics.exists()
                and metrics.read_bytes().count(b"\n") >= moment.after,
                f"line {moment.after}",
            )
        time.sleep(moment.delay)
        # By the process; which rank that is it says to the others.
        victim = ranks.pop(moment.victim)
        ready = sum(map(answers_termination, ranks))
        os.kill(victim, moment.signal)
        stopped = moment.signal == signal.SIGSTOP
        seconds = job.end(ENDS_WITHIN + (STALL if stopped else 0))
        self.assertNotEqual(job.process.returncode, 0, job.errors)
        lines = [m for m in map(SURVIVOR.match, job.errors.splitlines()) if m]
        lost = {line["lost"] for line in lines if line["lost"]}
        # A stopped rank, woken for its end while MPI starts, may say so.
        lines = [m for m in lines if m["how"] or not stopped or m["rank"] not in lost]
        how = "no sign of life from rank" if stopped else "lost rank"
        # Whom mpirun ends before `main`, when it notices a death, says nothing.
        early = moment.kind == "start" and not stopped
        expected = ready if early else RANKS - 1
        self.assertEqual(len(lines), len({m["rank"] for m in lines}), job.errors)
        self.assertTrue(expected <= len(lines) < RANKS, job.errors)
        self.assertLessEqual(len(lost), 1, job.errors)
        for line in lines:
            if line["how"] or moment.kind != "start":
                self.assertEqual(line["how"], how, job.errors)
            self.assertNotEqual(line["rank"], line["lost"], job.errors)
        every = int(self.OPTIONS[moment.kind][-1].rpartition("=")[2])
        whole = self.assertWhole(
            moment.model, checkpoints, moment.resumes_with, every
        )
        said = "; ".join(sorted({line["what"] for line in lines}))
        return f"{seconds:.1f} s, continued after {whole}; {said}"

    def test_twenty_moments(self) -> None:
        print(f"\nseed {SEED}: SMP_TEST_SEED={SEED} repeats it", flush=True)

        def attempt(moment: Moment) -> tuple[Moment, str, BaseException | None]:
            try:
                return moment, self.strike(moment), None
            except BaseException as error:  # noqa: BLE001, told below
                return moment, f"FAILED: {error}", error

        for model in ("mlp", "gpt2"):
            self.job(model)
        failed = []
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for moment, text, error in pool.map(attempt, choose_moments()):
                name = signal.Signals(moment.signal).name
                print(
                    f"{moment.index:2} {moment.model:4} {moment.kind:10} {name} "
                    f"{text}", flush=True,
                )  # fmt: skip
                if error:
                    failed.append(moment)
        self.assertFalse(failed)

    def test_ranks_that_are_threads(self) -> None:
        source = random.Random(SEED + 1)
        for _ in range(2):
            checkpoints = self.path("checkpoints")
            job = self.launch(
                self.words(
                    "mlp", "--init=reference", f"--ranks={RANKS}", f"--steps={FOREVER}",
                    "--transport=threads", "--checkpoint-dir", checkpoints,
                    "--save-every=1",
                )  # fmt: skip
            )
            job.until(lambda: list(checkpoints.glob("step-2_*")), "step 2")
            time.sleep(source.uniform(0, 0.2))
            job.process.kill()
            job.end(ENDS_WITHIN)
            self.assertWhole("mlp", checkpoints, "threads")

    def test_all_stopped_and_continued(self) -> None:
        """By the host, say: who slept as long as all others has lost nobody."""
        for transport in ("threads", "mpi"):
            metrics = self.path("run.jsonl")
            job = self.launch(
                self.words(
                    "mlp", "--init=reference", f"--ranks={RANKS}",
                    f"--steps={FOREVER}", "--metrics", metrics,
                    f"--stall-timeout={STALL}", f"--transport={transport}",
                )  # fmt: skip
            )
            job.until(metrics.exists, "the first step")
            processes = marked(job.mark)
            for process in processes:
                os.kill(process, signal.SIGSTOP)
            time.sleep(2 * STALL + 2)
            lines = metrics.read_bytes().count(b"\n")
            for process in processes:
                os.kill(process, signal.SIGCONT)
            time.sleep(STALL + 1)
            job.until(
                lambda: metrics.read_bytes().count(b"\n") > lines + 100, "more steps"
            )
            job.process.send_signal(signal.SIGINT)
            job.end(ENDS_WITHIN)
            self.assertEqual(job.process.returncode, 130, job.errors)

    def test_nothing_outlives_who_started_it(self) -> None:
        metrics = self.path("run.jsonl")
        job = self.launch(
            self.words(
                "mlp", "--init=reference", f"--ranks={RANKS}", f"--steps={FOREVER}",
                "--metrics", metrics,
            )  # fmt: skip
        )
        job.until(metrics.exists, "the first step")
        job.process.kill()
        job.end(ENDS_WITHIN)


class Disks(FaultTest):
    def test_a_full_disk(self) -> None:
        """A small file system of its own, which a user without rights may
        mount too where the system has user namespaces."""
        place = self.path("disk")
        place.mkdir()
        mount = f"mount -t tmpfs -o size=256k tmpfs {place}"
        for unshare in (["unshare", "-m"], ["unshare", "-Urm"]):
            probe = [*unshare, "sh", "-c", mount]
            if shutil.which("unshare") and not subprocess.run(
                probe, capture_output=True
            ).returncode:
                break
        else:
            self.skipTest("no file system can be mounted here, as root or by 'unshare'")
        saved, checkpoints = self.path("saved"), place / "checkpoints"
        words = self.words(
            "mlp", "--init=reference", f"--ranks={RANKS}", f"--steps={FOREVER}",
            "--checkpoint-dir", checkpoints, "--save-every=1",
        )  # fmt: skip
        command = " ".join(f"'{word}'" for word in words)
        script = f"{mount} && {{ {command}; code=$?; cp -a {checkpoints} {saved}; exit $code; }}"
        job = self.launch([*unshare, "sh", "-c", script])
        job.end(STARTS_WITHIN)
        self.assertEqual(job.process.returncode, 1, job.errors)
        self.assertEqual(job.errors.count("error:"), 1, job.errors)
        self.assertRegex(
            job.errors, r"error: cannot \w+ '.*checkpoints/.*': No space left on device"
        )
        self.assertFalse(list(saved.glob(".saving*")), job.errors)
        self.assertTrue(list(saved.glob("step-*_partial")), job.errors)
        self.assertWhole("mlp", saved, "mpi")


class Data(FaultTest):
    def test_a_file_that_is_cut_midway(self) -> None:
        source = random.Random(SEED + 2)
        whole = self.data("mlp").read_bytes()
        for size in (0, source.randrange(len(whole))):
            rows, metrics = self.path("rows.safetensors"), self.path("run.jsonl")
            checkpoints = self.path("checkpoints")
            rows.write_bytes(whole)
            words = self.words(
                "mlp", "--init=reference", f"--ranks={RANKS}", f"--steps={FOREVER}",
                "--metrics", metrics, "--checkpoint-dir", checkpoints,
                "--save-every=5",
            )  # fmt: skip
            words[3] = rows
            job = self.launch(words)
            job.until(metrics.exists, "the first step")
            time.sleep(source.uniform(0, 0.2))
            os.truncate(rows, size)
            job.end(ENDS_WITHIN)
            self.assertEqual(job.process.returncode, 1, job.errors)
            self.assertRegex(
                job.errors,
                rf"error: .*'{rows}' expects to keep its {len(whole)} bytes while it is "
                rf"in use, got {size}|error: expects its files to stay .* '{rows}'",
            )
            self.assertWhole("mlp", checkpoints, "threads", 5)

    def test_a_file_that_cannot_be_read(self) -> None:
        for what, text in (
            (self.path("gone"), "cannot open '{}': No such file"),
            (self.folder, "expects '{}' to be a regular file, got a folder"),
        ):
            words = self.words(
                "mlp", "--init=reference", f"--ranks={RANKS}", "--steps=1"
            )
            words[3] = what
            job = self.launch(words)
            job.end(STARTS_WITHIN)
            self.assertEqual(job.process.returncode, 1, job.errors)
            self.assertIn(text.format(what), job.errors)
            self.assertEqual(job.errors.count("error:"), 1, job.errors)


if __name__ == "__main__":
    main()
