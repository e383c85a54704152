# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs that come to grief: none of their processes is left, and what they have
saved is what a run saves that nothing disturbs."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import uuid
from pathlib import Path

from harness import BIN, ENVIRONMENT, KEEP, IntegrationTest, Reference, run
from test_errors import STARTS_WITHIN, is_alive
from test_layouts import config_of

RANKS = 4
STALL = 2  # seconds, --stall-timeout


def marked(mark: str) -> list[int]:
    """Processes, other than zombies, that have a mark in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark.encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            pass  # it has just ended, or is another user's
    return [process for process in found if is_alive(process)]


def answers_termination(process: int) -> bool:
    status = Path(f"/proc/{process}/status").read_text()
    caught = int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16)
    return bool(caught >> (signal.SIGTERM - 1) & 1)


class Job:
    """A run in the background; its messages go to a file, which no orphan can
    keep open for its reader."""

    def __init__(self, words: list, errors: Path, **options) -> None:
        self.mark = f"SMP_TEST_MARK={uuid.uuid4()}"
        self.errors_path = errors
        name, value = self.mark.split("=")
        with open(errors, "wb") as file:
            self.process = subprocess.Popen(
                [str(word) for word in words], stdout=file, stderr=file,
                stdin=subprocess.DEVNULL, env=ENVIRONMENT | {name: value}, **options,
            )  # fmt: skip

    @property
    def errors(self) -> str:
        return self.errors_path.read_text(errors="replace")

    def until(self, condition, what: str) -> None:
        deadline = time.monotonic() + STARTS_WITHIN
        while not condition():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"ended before {what}: {self.errors}")
            time.sleep(0.005)

    def end(self, within: float) -> float:
        """Waits until all processes are gone; the seconds it took."""
        begin = time.monotonic()
        while time.monotonic() - begin < within:
            if self.process.poll() is not None and not marked(self.mark):
                return time.monotonic() - begin
            time.sleep(0.02)
        left = marked(self.mark)
        raise AssertionError(f"{left} live after {within} s: {self.errors}")

    def clean(self) -> None:
        for process in marked(self.mark):
            os.kill(process, signal.SIGKILL)
        self.process.wait()


class FaultTest(IntegrationTest):
    """Jobs, references and a folder that all classes of a module share."""

    folder: Path
    jobs: dict[str, Path] = {}
    references: dict[tuple, Path] = {}
    rows: dict[str, Path] = {}
    lock = threading.RLock()
    numbers = itertools.count()

    @classmethod
    def setUpModule(cls, module_cleanup) -> None:
        cls.folder = Path(tempfile.mkdtemp(prefix="smp-faults-"))
        if not KEEP:
            module_cleanup(shutil.rmtree, cls.folder, ignore_errors=True)

    @classmethod
    def setUpClass(cls) -> None:
        pass

    def path(self, name: str) -> Path:
        return self.folder / f"{next(self.numbers)}-{name}"

    def job(self, model: str) -> Path:
        with self.lock:
            return self.compile(model, config_of(2, 1, "1f1b"))

    def data(self, model: str) -> Path:
        with self.lock:
            if model not in self.rows:
                path = Reference.of(model).rows(self.folder)
                self.rows[model] = path.rename(self.folder / f"{model}.safetensors")
            return self.rows[model]

    def words(self, model: str, *options: object) -> list:
        return [
            BIN / "smp-run", self.job(model), "--data", self.data(model),
            "--threads=1", *options,
        ]  # fmt: skip

    def launch(self, words: list, **options) -> Job:
        job = Job(words, self.path("errors"), **options)
        self.addCleanup(job.clean)
        return job

    def finish(self, words: list) -> str:
        finished = run("smp-run", *words[1:])
        self.assertEqual(finished.code, 0, finished.errors)
        return finished.errors

    def reference(self, model: str, steps: int) -> dict[str, bytes]:
        """The checkpoint after so many steps of a run that nothing disturbs."""
        with self.lock:
            if (model, steps) not in self.references:
                folder = self.path("reference")
                self.finish(
                    self.words(
                        model, "--init=reference", f"--steps={steps}",
                        f"--ranks={RANKS}", "--transport=threads",
                        "--checkpoint-dir", folder,
                    )  # fmt: skip
                )
                self.references[model, steps] = folder
            return self.tensors(self.references[model, steps], steps)

    def tensors(self, folder: Path, steps: int) -> dict[str, bytes]:
        parts = (folder / f"step-{steps}_partial").glob("*.safetensors")
        return {part.name: part.read_bytes() for part in parts}

    def assertWhole(
        self, model: str, folder: Path, transport: str, step: int = 1
    ) -> str:
        """The newest checkpoint, and what a run makes of it, are those of a run
        that nothing has disturbed. `step`: between two checkpoints."""
        saved = [int(p.name[5:-8]) for p in folder.glob("step-*_partial")]
        last = max(saved, default=0)
        if (folder / "newest").exists():
            # Named last: it may be one behind.
            last = int(json.loads((folder / "newest").read_text())["partial"][5:])
            self.assertIn(max(saved) - last, (0, step))
        words = self.words(
            model, f"--ranks={RANKS}", f"--steps={last + 1}",
            f"--transport={transport}", "--checkpoint-dir", folder,
            *(["--resume"] if saved else ["--init=reference"]),
        )  # fmt: skip
        errors = self.finish(words)
        if saved:
            self.assertEqual(self.tensors(folder, last), self.reference(model, last))
            self.assertIn(f"resumed 'step-{last}'", errors)
        got, expected = self.tensors(folder, last + 1), self.reference(model, last + 1)
        self.assertEqual(sorted(got), sorted(expected))
        self.assertTrue(got and got == expected, f"after step {last + 1}")
        left = [p.name for p in folder.iterdir() if p.name.startswith(".saving")]
        # What a crash leaves goes with the next save of that step.
        self.assertNotIn(f".saving-step-{last + 1}", left)
        return f"step {last}" if saved else "no step"
