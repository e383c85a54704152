# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the integration tests share: tools, jobs, runs, tensors.

The tools are those of the folder SMP_BIN. Only the standard library is used,
so that the tests run wherever the tools do.
"""

from __future__ import annotations

import array
import json
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from dataclasses import dataclass, field
from pathlib import Path

BIN = Path(os.environ.get("SMP_BIN", "build/release/bin")).resolve()
MODELS = Path(__file__).resolve().parent.parent / "models"
DATA = MODELS / "data"
# The folder of a test that failed, to look into.
KEEP = os.environ.get("SMP_TEST_KEEP", "0") == "1"
EXHAUSTIVE = os.environ.get("SMP_TEST_EXHAUSTIVE", "0") == "1"
# No command of these tests takes longer on an idle machine than a tenth of it.
PATIENCE = 300

CODES = {"F32": "f", "F64": "d", "I64": "q", "I32": "i", "U8": "B", "BOOL": "B"}
ENVIRONMENT = os.environ | {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}


@dataclass
class Tensor:
    dtype: str
    shape: list[int]
    data: bytes

    def values(self) -> array.array:
        return array.array(CODES[self.dtype], self.data)


def read_safetensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    content = Path(path).read_bytes()
    (size,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + size])
    metadata = header.pop("__metadata__", {})
    body = content[8 + size :]
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        tensors[name] = Tensor(entry["dtype"], entry["shape"], body[begin:end])
    return tensors, metadata


def models_with(prefix: str) -> list[str]:
    """The models whose reference data has tensors below a prefix."""
    found = []
    for path in sorted(DATA.glob("*.safetensors")):
        names = read_safetensors(path)[0]
        if any(name.startswith(prefix) for name in names):
            found.append(path.stem)
    return found


def write_safetensors(path: Path, tensors: dict[str, Tensor]) -> Path:
    header, offset = {}, 0
    for name, tensor in tensors.items():
        end = offset + len(tensor.data)
        header[name] = {
            "dtype": tensor.dtype,
            "shape": tensor.shape,
            "data_offsets": [offset, end],
        }
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            file.write(tensor.data)
    return Path(path)


@dataclass
class Reference:
    """What PyTorch computed for a model, see test/models/make_reference.py."""

    tensors: dict[str, Tensor]
    settings: dict

    @staticmethod
    def of(model: str) -> Reference:
        tensors, metadata = read_safetensors(DATA / f"{model}.safetensors")
        return Reference(tensors, json.loads(metadata["smp"]))

    def below(self, prefix: str) -> dict[str, Tensor]:
        return {
            name.removeprefix(prefix): tensor
            for name, tensor in self.tensors.items()
            if name.startswith(prefix)
        }

    def rows(self, folder: Path, prefix: str = "steps/inputs/") -> Path:
        """A data file of the rows of the trajectories, or of others."""
        return write_safetensors(folder / "rows.safetensors", self.below(prefix))


@dataclass
class Finished:
    code: int
    output: str
    errors: str
    cpu_seconds: float


def start(tool: str, *arguments: object) -> subprocess.Popen:
    return subprocess.Popen(
        [BIN / tool, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",  # generated text may be any bytes
        env=ENVIRONMENT,
    )


def run(tool: str, *arguments: object) -> Finished:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = start(tool, *arguments)
    try:
        output, errors = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Finished(process.returncode, output, errors, spent)


@dataclass
class Trained:
    losses: list[float]
    parameters: dict[str, Tensor] = field(default_factory=dict)
    norms: list[float] = field(default_factory=list)
    evaluations: list[float] = field(default_factory=list)


def read_metrics(path: Path) -> list[dict]:
    if not path.exists():
        return []
    lines = path.read_text().splitlines()
    return [json.loads(line) for line in lines]


class IntegrationTest(unittest.TestCase):
    """A temporary folder and jobs compiled once for a class."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(tempfile.mkdtemp(prefix="smp-integration-"))
        if not KEEP:
            cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.jobs: dict[str, Path] = {}
        cls.count = 0

    def path(self, name: str) -> Path:
        """A new path in the temporary folder."""
        type(self).count += 1
        return self.folder / f"{self.count}-{name}"

    def compile(self, model: str, config: dict) -> Path:
        key = json.dumps([model, config], sort_keys=True)
        if key not in self.jobs:
            job = self.path(f"{model}-job")
            settings = self.path("smp.json")
            settings.write_text(json.dumps(config))
            finished = run(
                "smp-compile", DATA / f"{model}.pt2", "-o", job, "--config", settings
            )
            self.assertEqual(finished.code, 0, f"{config}\n{finished.errors}")
            self.jobs[key] = job
        return self.jobs[key]

    def train(self, job: Path, data: Path, steps: int, *options: object) -> Trained:
        metrics, dump = self.path("run.jsonl"), self.path("end.safetensors")
        arguments = [job, "--data", data, "--steps", steps, "--metrics", metrics]
        given = any(str(o).startswith(("--resume", "--init")) for o in options)
        if not given:
            arguments.append("--init=reference")
        finished = run(
            "smp-run", *arguments, "--dump-parameters", dump, *options
        )
        self.assertEqual(finished.code, 0, f"{options}\n{finished.errors}")
        lines = read_metrics(metrics)
        return Trained(
            [line["loss"] for line in lines if "loss" in line],
            read_safetensors(dump)[0],
            [line["gradient_norm"] for line in lines if "gradient_norm" in line],
            [line["eval_loss"] for line in lines if "eval_loss" in line],
        )

    def initial(self, job: Path) -> dict[str, Tensor]:
        dump = self.path("start.safetensors")
        finished = run(
            "smp-run", job, "--init=reference", "--transport=threads",
            "--dump-parameters", dump,
        )  # fmt: skip
        self.assertEqual(finished.code, 0, finished.errors)
        return read_safetensors(dump)[0]

    def assertSame(self, got: Trained, expected: Trained) -> None:
        """Bit for bit."""
        self.assertEqual(got.losses, expected.losses)
        self.assertEqual(got.parameters.keys(), expected.parameters.keys())
        for name, tensor in expected.parameters.items():
            self.assertTrue(
                got.parameters[name].data == tensor.data,
                f"'{name}' differs by {largest_difference(got.parameters[name], tensor):.1e}",
            )

    def assertLosses(self, got: list, expected: list, tolerance: float) -> None:
        self.assertEqual(len(got), len(expected))
        for step, (a, b) in enumerate(zip(got, expected)):
            self.assertLessEqual(
                abs(a - b), tolerance * abs(b), f"step {step}: {a} and {b}"
            )

    def assertTrainedAlike(self, got: dict, expected: dict, initial: dict) -> None:
        """Numerical contract: ||p - q|| <= 1e-3 * ||q - p0|| over the model."""
        distance = length = 0.0
        for name, tensor in expected.items():
            p, q, p0 = (x[name].values() for x in (got, expected, initial))
            self.assertEqual(len(p), len(q), name)
            distance += sum((a - b) ** 2 for a, b in zip(p, q))
            length += sum((b - c) ** 2 for b, c in zip(q, p0))
        self.assertGreater(length, 0)
        self.assertLessEqual((distance / length) ** 0.5, 1e-3)


TRAINED_MODELS = models_with("sgd/params/")


def first_rows(tensor: Tensor, rows: int) -> Tensor:
    size = len(tensor.data) // tensor.shape[0]
    return Tensor(tensor.dtype, [rows, *tensor.shape[1:]], tensor.data[: rows * size])


def largest_difference(a: Tensor, b: Tensor) -> float:
    return max((abs(x - y) for x, y in zip(a.values(), b.values())), default=0.0)


def largest(a: Tensor) -> float:
    return max(map(abs, a.values()), default=0.0)


def main() -> None:
    if not (BIN / "smp-run").exists():
        sys.exit(f"error: expects the tools in SMP_BIN, got '{BIN}'")
    unittest.main(verbosity=2)
