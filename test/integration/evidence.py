# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tables of the matrices, with date and commit.

A test adds rows while it runs; SMP_TEST_EVIDENCE names the folder where its
page is written at the end, whether or not all rows passed.
"""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = os.environ.get("SMP_TEST_EVIDENCE")


def commit() -> str:
    """The commit that was tested, and whether sources differed from it."""

    def git(*arguments: str) -> str:
        finished = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True
        )
        return finished.stdout.strip() if finished.returncode == 0 else ""

    name = git("rev-parse", "HEAD") or "unknown"
    # What earlier pages of the same run have written is no source.
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ":!docs/evidence")
    return f"{name}, with changes" if changed else name


def command() -> str:
    program, arguments = Path(sys.argv[0]).resolve(), sys.argv[1:]
    if program.is_relative_to(ROOT):
        program = program.relative_to(ROOT)
    extent = os.environ.get("SMP_TEST_EXHAUSTIVE", "0")
    return " ".join([f"SMP_TEST_EXHAUSTIVE={extent}", str(program), *arguments])


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown"


class Table:
    """A page of one table."""

    def __init__(self, name: str, title: str, columns: list[str]):
        self.name, self.title, self.columns = name, title, columns
        self.rows: list[list[str]] = []

    def add(self, *cells: object) -> None:
        if len(cells) != len(self.columns):
            raise ValueError(f"expects {len(self.columns)} cells, got {len(cells)}")
        self.rows.append([str(cell) for cell in cells])

    def text(self) -> str:
        now = datetime.datetime.now(datetime.timezone.utc)
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        return (
            f"# {self.title}\n\n"
            "Written by the test itself; not to be edited.\n\n"
            f"* date: {now:%Y-%m-%d %H:%M} UTC\n"
            f"* commit: {commit()}\n"
            f"* command: `{command()}`\n"
            f"* processor: {processor()}, {os.cpu_count()} cores\n\n"
            f"{table}\n"
        )

    def write(self) -> None:
        if not FOLDER or not self.rows:
            return
        folder = Path(FOLDER)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self.name}.md").write_text(self.text())
