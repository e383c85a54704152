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
from unittest import mock

from harness import (
    DATA,
    ENVIRONMENT,
    PATIENCE,
    IntegrationTest,
    Reference,
    Tensor,
    main,
    run,
    start,
    write_safetensors,
)

# Generates from all tokens, trains on the last one alone.
PHASES = Path(__file__).resolve().parent.parent / "Pipelines/memory.mlir"
# Two large tables and little to compute: a stage for each.
TABLES = """
module attributes {smp.batch = 2 : i64, smp.data_convention = "hf"} {
  smp.parameter @near : tensor<520000x64xf32> init <constant, 0.5>
  smp.parameter @far : tensor<520000x64xf32> init <constant, 0.5>
  smp.parameter @head : tensor<16x64xf32> init <normal, 0.0, 0.2>
  func.func @train(%tokens: tensor<?x4xi64> {smp.name = "tokens", smp.role = "input"}, %labels: tensor<?x4xi64> {smp.name = "labels", smp.role = "label"}) -> (tensor<f32> {smp.name = "loss", smp.role = "loss"}) {
    %rows = smp.dim %tokens, 0 : tensor<?x4xi64>
    %four = arith.constant 4 : index
    %places = arith.muli %rows, %four : index
    %near = smp.get_parameter @near as "near" : tensor<520000x64xf32>
    %far = smp.get_parameter @far as "far" : tensor<520000x64xf32>
    %head = smp.get_parameter @head as "head" : tensor<16x64xf32>
    %first = smp.embedding %near, %tokens {scope = "first"} : tensor<520000x64xf32>, tensor<?x4xi64>
    %middle = smp.gelu %first {scope = "first"} : tensor<?x4x64xf32>
    %second = smp.embedding %far, %tokens {scope = "second"} : tensor<520000x64xf32>, tensor<?x4xi64>
    %sum = smp.add %middle, %second {scope = "second"} : tensor<?x4x64xf32>
    %logits = smp.linear %sum, %head {scope = "second"} : tensor<?x4x64xf32>, tensor<16x64xf32>
    %flat = smp.reshape %logits[%places] : tensor<?x4x16xf32> -> tensor<?x16xf32>
    %targets = smp.reshape %labels[%places] : tensor<?x4xi64> -> tensor<?xi64>
    %total, %count, %lse = smp.cross_entropy %flat, %targets ignore -100 : tensor<?x16xf32>, tensor<?xi64>
    %loss = smp.mean_loss "loss" %total by %count : tensor<f32>
    return %loss : tensor<f32>
  }
}
"""
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
        """The job, and what it prints that training takes."""
        job = self.path("job")
        finished = run("smp-compile", model, "-o", job, *flags)
        self.assertEqual(finished.code, 0, finished.errors)
        self.printed = finished.errors
        return job, self.printed_sizes("memory")

    def printed_sizes(self, line: str) -> list[float]:
        """Of each stage; none where that is no more than training takes."""
        printed = re.findall(rf"{line}: pp rank \d+ takes (.*)", self.printed)
        return [bytes_of(text) for text in printed]

    def peaks_of(self, *arguments: object) -> tuple[dict[int, int], str]:
        """Of each rank, and what smp-run said."""
        # Each thread takes up to 3 MB for operands that the library packs.
        process = start("smp-run", *arguments, "--transport=mpi", "--threads=2")
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

    def check_run(self, name: str, plans: list[float], *arguments: object) -> str:
        """Runs a job; `plans` has that of each stage, and of the stages of
        other replicas where they do less."""
        peaks, errors = self.peaks_of(*arguments)
        said = re.findall(r"memory of the stages.*: (.*)", errors)
        sizes = [bytes_of(text) for line in said for text in line.split(", ")]
        self.assertEqual(sizes, plans)
        for rank, peak in sorted(peaks.items()):
            planned = plans[rank % len(plans)]
            print(
                f"{name}: rank {rank} takes {peak / 1e6:.1f} MB "
                f"of {planned / 1e6:.1f}: {peak / planned - 1:+.2%}"
            )
            self.assertGreater(planned, LEAST)
            self.assertLess(abs(peak - planned), TOLERANCE * planned)
        return errors

    def check(self, model: Path, data: Path, ranks: int, *flags: object) -> None:
        """Some steps of training."""
        job, plan = self.compile_printing(model, *flags)
        self.check_run(
            f"{model.stem} {flags}", plan,
            job, "--data", data, "--ranks", ranks, "--init=random", "--steps=3",
        )  # fmt: skip


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

    def test_channels(self) -> None:
        """Groups and channels that do not fill a vector. How the library pads
        them depends on the machine's vectors, for which a job is compiled."""
        rows = self.rows("convnet", 2 * 30000)
        for vectors in ("AVX512_CORE", "AVX2"):
            limit = {"ONEDNN_MAX_CPU_ISA": vectors, "DNNL_MAX_CPU_ISA": vectors}
            with self.subTest(vectors), mock.patch.dict(ENVIRONMENT, limit):
                self.check(
                    DATA / "convnet.pt2", rows, 2, "--batch-size=30000",
                    "--microbatches=1",
                )  # fmt: skip

    def test_other_phases(self) -> None:
        """What a run does not do takes no memory: the plan is that of the
        phases that it has."""
        text = self.path("text.u8")
        text.write_bytes(bytes(range(97, 113)) * 200000)
        job, plan = self.compile_printing(
            PHASES, "--batch-size=15600", "--microbatches=1",
        )
        generating = self.printed_sizes("memory with --generate")
        self.assertGreater(generating[0], 2 * plan[0])
        common = (job, "--data", text, "--ranks=2", "--init=random")
        generate = ("--generate=2", "--prompt=a", "--temperature=0")
        self.check_run("training", plan, *common, "--steps=2")
        self.check_run(
            "generation", [*generating, *plan], *common, "--steps=2", *generate
        )

    def test_evaluation(self) -> None:
        """In stages it has more microbatches on their way than training."""
        rows = self.rows("mlp", 1000000)
        job, plan = self.compile_printing(
            DATA / "mlp.pt2", "--batch-size=1000000", "--microbatches=2",
            "--pipeline-parallel-degree=2",
        )  # fmt: skip
        evaluating = self.printed_sizes("memory with --eval-data")
        common = (job, "--data", rows, "--ranks=2", "--init=random", "--steps=1")
        self.check_run("training", plan, *common)
        self.check_run("evaluation", evaluating, *common, "--eval-data", rows)

    def test_weights(self) -> None:
        """Nothing is copied as a whole that is saved, resumed or sent."""
        model = self.path("tables.mlir")
        model.write_text(TABLES)
        text = self.path("text.u8")
        text.write_bytes(bytes(range(16)) * 8)
        job, plan = self.compile_printing(
            model, "--batch-size=2", "--microbatches=2", "--pipeline-parallel-degree=2"
        )
        common = (job, "--data", text, "--ranks=2", "--checkpoint-dir", self.path("saved"))
        dump = ("--dump-parameters", self.path("dump.safetensors"))
        self.check_run("save", plan, *common, "--init=random", "--steps=1", *dump)
        self.check_run("resume", plan, *common, "--resume", "--steps=2", *dump)


if __name__ == "__main__":
    main()
