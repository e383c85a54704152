# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What users get wrong is said clearly, and what breaks ends cleanly."""

from __future__ import annotations

import itertools
import os
import re
import signal
import struct
import time
import zipfile
from pathlib import Path

from harness import (
    DATA,
    IntegrationTest,
    Reference,
    Tensor,
    main,
    read_metrics,
    read_safetensors,
    run,
    start,
    write_safetensors,
)
from test_layouts import config_of

FOREVER = 100_000_000
STARTS_WITHIN = 120  # seconds, on a busy machine


def parents() -> dict[int, tuple[str, str, int]]:
    """Name, state and parent of every process."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            text = (entry / "stat").read_text()
        except OSError:
            continue  # it has just ended
        name, _, rest = text.partition("(")[2].rpartition(")")
        state, parent = rest.split()[:2]
        found[int(entry.name)] = name, state, int(parent)
    return found


def ranks_below(root: int) -> list[int]:
    every = parents()

    def descends(process: int) -> bool:
        while process in every and process != root:
            process = every[process][2]
        return process == root

    return sorted(
        p for p, (name, *_) in every.items()
        if name == "smp-run" and p != root and descends(p)
    )  # fmt: skip


def is_alive(process: int) -> bool:
    return parents().get(process, ("", "Z", 0))[1] not in "ZX"


class CompileErrors(IntegrationTest):
    def expect(self, text: str, *arguments: object) -> None:
        finished = run("smp-compile", *arguments, "-o", self.path("job"))
        self.assertEqual(finished.code, 1, finished.errors)
        self.assertIn(text, finished.errors)

    def test_configuration(self) -> None:
        mlp = DATA / "mlp.pt2"
        self.expect("'microbatches'", mlp, "--microbatchse=2")
        self.expect(
            "batch_size", mlp, "--batch-size=6", "--microbatches=4"
        )
        self.expect("'optimizer.lr' expects a number", mlp, "--optimizer.lr=fast")
        self.expect(
            "more than one element of each channel in a microbatch, got one",
            DATA / "convnet.pt2", "--batch-size=4", "--microbatches=4",
        )  # fmt: skip
        self.expect("tensor_parallel_degree", mlp, "--tensor-parallel-degree=2")
        self.assertIn(
            "(so far only 1: tensor parallelism is not built yet)",
            run("smp-compile", "--help").output,
        )

    def test_other_files_are_not_replaced(self) -> None:
        folder = self.path("mine")
        folder.mkdir()
        (folder / "job.json").write_text('{"mine": 1}')
        finished = run("smp-compile", DATA / "mlp.pt2", "-o", folder)
        self.assertEqual(finished.code, 1)
        self.assertIn("expects a new or empty folder, or a job to replace", finished.errors)
        self.assertEqual((folder / "job.json").read_text(), '{"mine": 1}')

    def test_truncated_archive(self) -> None:
        content = (DATA / "mlp.pt2").read_bytes()
        short = self.path("short.pt2")
        for size in (3, len(content) // 2, len(content) - 10):
            short.write_bytes(content[:size])
            with self.subTest(size=size):
                finished = run("smp-compile", short, "-o", self.path("job"))
                self.assertEqual(finished.code, 1, finished.errors)
                self.assertIn("error", finished.errors)

    def test_unsupported_operators_are_all_in_one_error(self) -> None:
        changed = self.path("changed.pt2")
        with zipfile.ZipFile(DATA / "mlp.pt2") as old:
            with zipfile.ZipFile(changed, "w") as new:
                for entry in old.infolist():
                    content = old.read(entry)
                    if entry.filename.endswith("models/model.json"):
                        for before, after in (
                            (b"aten.tanh.default", b"aten.frexp.Tensor"),
                            (b"aten.linear.default", b"aten.bilinear.default"),
                        ):
                            self.assertIn(before, content)
                            content = content.replace(before, after)
                    new.writestr(entry, content)
        finished = run("smp-compile", changed, "-o", self.path("job"))
        self.assertEqual(finished.code, 1, finished.errors)
        self.assertEqual(finished.errors.count("error:"), 1, finished.errors)
        self.assertRegex(finished.errors, r"aten\.frexp")
        self.assertRegex(finished.errors, r"aten\.bilinear[^\n]*4|4[^\n]*aten\.bilinear")


class RunErrors(IntegrationTest):
    def job(self, model: str = "gpt2", pp: int = 2) -> Path:
        return self.compile(model, config_of(pp, 1, "interleaved"))

    def expect(self, text: str, *arguments: object) -> None:
        finished = run("smp-run", *arguments, "--transport=threads")
        self.assertEqual(finished.code, 1, finished.errors)
        self.assertIn(text, finished.errors)
        # One rank says what all ranks found.
        self.assertEqual(finished.errors.count("error:"), 1, finished.errors)

    def test_world(self) -> None:
        self.expect("got 3 ranks", self.job(), "--steps=1", "--ranks=3")

    def test_tokens(self) -> None:
        tokens = self.path("tokens.u8")
        begin = [self.job(), "--steps=1", "--init=random", "--data", tokens]
        tokens.write_bytes(bytes(range(112)) * 2 + b"\x70")
        self.expect(
            "expects tokens below the vocabulary 112, got 112 at position 224", *begin
        )
        tokens.write_bytes(bytes(11))
        self.expect("expects at least 12 tokens, one sequence of 12, got 11", *begin)
        rows = self.path("rows.safetensors")
        labels = struct.pack("<12q", *range(10), -100, -1)
        write_safetensors(
            rows,
            {
                "input_ids": Tensor("I64", [1, 12], bytes(96)),
                "labels": Tensor("I64", [1, 12], labels),
            },
        )
        begin[-1] = rows
        self.expect("'labels' expects integers from 0 to 111 or -100, got -1", *begin)

    def test_weights(self) -> None:
        job = self.job("mlp", 1)
        rows = Reference.of("mlp").rows(self.folder)
        initial = self.initial(job)
        weights = self.path("weights.safetensors")
        begin = [job, "--steps=1", "--data", rows, "--init", weights]
        write_safetensors(weights, {k: v for k, v in initial.items() if k != "2.bias"})
        self.expect("'2.bias'", *begin)
        other = Tensor("F32", [4], bytes(16))
        write_safetensors(weights, initial | {"2.bias": other})
        self.expect("[32]", *begin)
        write_safetensors(weights, initial)
        whole = weights.read_bytes()
        weights.write_bytes(whole[: len(whole) - 100])
        self.expect("weights.safetensors", *begin)
        write_safetensors(weights, initial | {"idle": other})
        finished = run("smp-run", *begin, "--transport=threads")
        self.assertEqual(finished.code, 0, finished.errors)
        self.assertIn("1 tensor that the job does not use, as 'idle'", finished.errors)

    def test_loss_that_is_no_number(self) -> None:
        for transport in ("threads", "mpi"):
            job = self.job("mlp", 2)
            weights = self.path("weights.safetensors")
            initial = self.initial(job)
            tensor = initial["7.bias"]
            initial["7.bias"] = Tensor(
                "F32", tensor.shape, struct.pack("<f", float("nan")) * tensor.shape[0]
            )
            write_safetensors(weights, initial)
            finished = run(
                "smp-run", job, "--steps=3", f"--transport={transport}", "--init",
                weights, "--data", Reference.of("mlp").rows(self.folder),
            )  # fmt: skip
            self.assertEqual(finished.code, 1, finished.errors)
            self.assertRegex(finished.errors, r"step 1 .*loss.*nan")


class Endings(IntegrationTest):
    def begin(self, ranks: int, *options: object):
        """A run that has done a few steps."""
        job = self.compile("gpt2", config_of(2, 1, "1f1b"))
        metrics = self.path("run.jsonl")
        process = start(
            "smp-run", job, "--init=reference", f"--steps={FOREVER}", "--threads=1",
            f"--ranks={ranks}", "--metrics", metrics, "--data",
            Reference.of("gpt2").rows(self.folder), *options,
        )  # fmt: skip
        self.addCleanup(self.end, process)
        deadline = time.monotonic() + STARTS_WITHIN
        while time.monotonic() < deadline and process.poll() is None:
            if metrics.exists() and metrics.read_bytes().count(b"\n") >= 3:
                return process, metrics
            time.sleep(0.05)
        process.kill()
        self.fail(process.communicate()[1])

    @staticmethod
    def end(process) -> None:
        if process.poll() is None:
            process.kill()
            process.communicate()

    def test_signals_finish_the_step_and_save(self) -> None:
        signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        for transport, name in itertools.product(("threads", "mpi"), signals):
            with self.subTest(transport=transport, signal=name):
                checkpoints = self.path("checkpoints")
                process, metrics = self.begin(
                    2, f"--transport={transport}", "--checkpoint-dir", checkpoints
                )
                process.send_signal(name)
                errors = process.communicate(timeout=STARTS_WITHIN)[1]
                self.assertEqual(process.returncode, 130, errors)
                steps = len(read_metrics(metrics))
                self.assertIn(f"stopped after step {steps}", errors)
                saved = list(checkpoints.glob(f"step-{steps}_partial/model_*"))
                self.assertTrue(saved, sorted(checkpoints.iterdir()))
                for file in saved:
                    self.assertTrue(read_safetensors(file)[0])

    def test_a_run_under_nohup_outlives_its_terminal(self) -> None:
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            runs = [self.begin(2, f"--transport={name}") for name in ("threads", "mpi")]
        finally:
            signal.signal(signal.SIGHUP, before)
        for process, metrics in runs:
            process.send_signal(signal.SIGHUP)
            steps = len(read_metrics(metrics))
            deadline = time.monotonic() + STARTS_WITHIN
            while len(read_metrics(metrics)) < steps + 20 and process.poll() is None:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)
            self.assertIsNone(process.poll())

    def test_survivors_of_a_killed_rank_end(self) -> None:
        for victim in (0, 3):
            with self.subTest(victim=victim):
                process, _ = self.begin(4)
                ranks = ranks_below(process.pid)
                self.assertEqual(len(ranks), 4)
                os.kill(ranks[victim], signal.SIGKILL)
                begin = time.monotonic()
                errors = process.communicate(timeout=STARTS_WITHIN)[1]
                self.assertLess(time.monotonic() - begin, 10, errors)
                self.assertNotEqual(process.returncode, 0, errors)
                lost = re.findall(r".*lost rank.*", errors)
                self.assertEqual(len(lost), 3, errors)
                said = {re.search(r"rank (\d)", line)[1] for line in lost}
                self.assertEqual(len(said), 3, errors)
                # Of a microbatch, or the sum over ranks that ends a step.
                self.assertRegex(errors, "microbatch|sum of results")
                self.assertFalse([rank for rank in ranks if is_alive(rank)])

    def test_survivors_of_a_stopped_rank_end(self) -> None:
        process, _ = self.begin(4, "--stall-timeout=3")
        ranks = ranks_below(process.pid)
        os.kill(ranks[1], signal.SIGSTOP)
        begin = time.monotonic()
        errors = process.communicate(timeout=STARTS_WITHIN)[1]
        self.assertLess(time.monotonic() - begin, 13, errors)
        self.assertNotEqual(process.returncode, 0, errors)
        lines = re.findall(r"rank (\d): no sign of life from rank 1", errors)
        self.assertEqual(sorted(lines), ["0", "2", "3"], errors)
        self.assertFalse([rank for rank in ranks if is_alive(rank)])


if __name__ == "__main__":
    main()
