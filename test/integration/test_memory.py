# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ranks take the memory that smp-compile prints and smp-run says, to 5 %.

What a rank takes is its anonymous memory and what it shares with others, at
the peak of a run of some steps. Jobs are of 500 MB a rank and more: what is no
part of the plan (the job itself, buffers of MPI, code that oneDNN generates)
does not grow with them.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

from harness import (
    DATA,
    PATIENCE,
    IntegrationTest,
    Reference,
    Tensor,
    main,
    run,
    start,
    write_safetensors,
)

TOLERANCE = 0.05
LEAST = 500e6
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def bytes_of(text: str) -> float:
    amount, unit = text.split()
    return float(amount) * UNITS[unit]


def ranks_below(process: int) -> list[int]:
    """The processes of smp-run that mpirun has started."""
    found = []
    for path in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            children = [int(child) for child in path.read_text().split()]
        except OSError:
            continue
        for child in children:
            below = ranks_below(child)
            found += below or [child]
    return found


def memory_of(process: int) -> tuple[int, int]:
    """The rank, and the bytes that it takes now."""
    environment = Path(f"/proc/{process}/environ").read_bytes()
    rank = re.search(rb"\0OMPI_COMM_WORLD_RANK=(\d+)", environment)
    status = Path(f"/proc/{process}/status").read_text()
    sizes = re.findall(r"^(?:RssAnon|RssShmem):\s+(\d+) kB", status, re.MULTILINE)
    return int(rank[1]) if rank else -1, 1024 * sum(map(int, sizes))


class MemoryTest(IntegrationTest):
    """Has no test of its own: test_large.py has one, too."""

    def compile_printing(self, model: Path, *flags: object) -> tuple[Path, list[float]]:
        job = self.path("job")
        finished = run("smp-compile", model, "-o", job, *flags)
        self.assertEqual(finished.code, 0, finished.errors)
        printed = re.findall(r"memory: pp rank \d+ takes (.*)", finished.errors)
        return job, [bytes_of(text) for text in printed]

    def peaks_of(self, *arguments: object) -> tuple[dict[int, int], str]:
        """Of each rank, and what smp-run said."""
        process = start("smp-run", *arguments, "--transport=mpi", "--steps=3")
        peaks: dict[int, int] = {}
        deadline = time.monotonic() + PATIENCE
        while process.poll() is None:
            if time.monotonic() > deadline:
                process.kill()
            for child in ranks_below(process.pid):
                try:
                    rank, size = memory_of(child)
                except OSError:  # it has just ended
                    continue
                peaks[rank] = max(peaks.get(rank, 0), size)
            time.sleep(0.02)
        _, errors = process.communicate()
        self.assertEqual(process.returncode, 0, errors)
        peaks.pop(-1, None)
        return peaks, errors

    def check(self, model: Path, data: Path, ranks: int, *flags: object) -> None:
        job, plan = self.compile_printing(model, *flags)
        peaks, errors = self.peaks_of(
            job, "--data", data, "--ranks", ranks, "--init=random"
        )
        said = re.search(r"memory of the stages: (.*)", errors)
        self.assertEqual([bytes_of(text) for text in said[1].split(", ")], plan)
        self.assertEqual(len(peaks), ranks)
        for rank, peak in sorted(peaks.items()):
            planned = plan[rank % len(plan)]
            print(
                f"{model.stem} {flags}: rank {rank} takes {peak / 1e6:.1f} MB "
                f"of {planned / 1e6:.1f}: {peak / planned - 1:+.2%}"
            )
            self.assertGreater(planned, LEAST)
            self.assertLess(abs(peak - planned), TOLERANCE * planned)


class Memory(MemoryTest):
    def rows(self, model: str, count: int) -> Path:
        """The rows of the reference over and over."""
        tensors = {}
        for name, tensor in Reference.of(model).below("steps/inputs/").items():
            times = count // tensor.shape[0]
            tensors[name] = Tensor(
                tensor.dtype, [tensor.shape[0] * times, *tensor.shape[1:]], tensor.data * times
            )
        return write_safetensors(self.path("rows.safetensors"), tensors)

    def test_activations(self) -> None:
        """Small models with large batches, in stages and in replicas."""
        for model, rows, pp, schedule in (
            ("gpt2", 16384, 2, "interleaved"),
            ("gpt2", 8192, 1, "simple"),
            ("resnet", 20480, 1, "simple"),
        ):
            with self.subTest(model, pp=pp):
                self.check(
                    DATA / f"{model}.pt2", self.rows(model, rows * 2 // pp), 2,
                    f"--pipeline-parallel-degree={pp}", f"--pipeline={schedule}",
                    f"--batch-size={rows}", f"--microbatches={pp}",
                )  # fmt: skip


if __name__ == "__main__":
    main()
