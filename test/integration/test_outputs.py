# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where a run writes: what cannot be written is said before anything is
computed for it, and nothing of another run is lost."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import time

from harness import BIN, ENVIRONMENT, IntegrationTest, Reference, main, run, start
from test_layouts import config_of

PATIENCE = 120  # seconds, on a busy machine


class Outputs(IntegrationTest):
    def begin(self, model: str = "gpt2", steps: int = 4) -> list:
        job = self.compile(model, config_of(2, 1, "1f1b"))
        data = Reference.of(model).rows(self.folder)
        rows = data.rename(data.with_name(f"{model}-rows.safetensors"))
        return [
            job, "--data", rows, "--init=reference", f"--steps={steps}",
            "--transport=threads",
        ]  # fmt: skip

    def expect(self, text: str, *arguments: object) -> None:
        """One error, before the first step."""
        finished = run("smp-run", *arguments)
        self.assertEqual(finished.code, 1, finished.errors)
        self.assertIn(text, finished.errors)
        self.assertEqual(finished.errors.count("error:"), 1, finished.errors)
        self.assertNotIn("step ", finished.errors)

    def test_places_are_tried_before_the_first_step(self) -> None:
        begin = self.begin()
        nowhere = self.path("nowhere") / "file"
        file = self.path("file")
        file.write_text("")
        for option in ("metrics", "trace", "dump-parameters"):
            self.expect(f"option '--{option}': cannot create", *begin,
                        f"--{option}={nowhere}")  # fmt: skip
            self.expect("to write at", *begin, f"--{option}={self.folder}")
            self.expect("expects a file of its own", *begin,
                        f"--{option}={begin[2]}")  # fmt: skip
        self.expect("option '--trace' expects a file of its own", *begin,
                    f"--metrics={file}", f"--trace={file}")  # fmt: skip
        # By other words.
        self.expect("option '--trace' expects a file of its own", *begin,
                    f"--metrics={self.folder}/new",
                    f"--trace={self.folder}/./new")  # fmt: skip
        for part in ("job.json", "kernels.so"):
            self.expect("which is part of the job", *begin,
                        f"--metrics={begin[0]}/{part}")  # fmt: skip
        self.expect("expects a folder that can be written", *begin,
                    f"--checkpoint-dir={file / 'checkpoints'}")  # fmt: skip
        self.assertTrue(begin[2].stat().st_size)
        self.expect(
            "expects a model of tokens to generate text",
            *self.begin("mlp"), "--generate=4", "--prompt=a",
        )  # fmt: skip
        self.expect("at least one byte", *begin, "--generate=4")

    def test_links_stay_links(self) -> None:
        begin, link, target = self.begin(), self.path("link"), self.path("target")
        link.symlink_to(target)
        for _ in range(2):
            self.assertEqual(run("smp-run", *begin, "--trace", link).code, 0)
            self.assertTrue(link.is_symlink())
            self.assertTrue(target.stat().st_size)

    def test_checkpoints_of_another_run(self) -> None:
        begin, folder = self.begin(), self.path("checkpoints")
        options = [*begin, "--checkpoint-dir", folder]
        self.assertEqual(run("smp-run", *options, "--save-every=2").code, 0)
        saved = sorted(folder.rglob("*"))
        self.expect("expects a folder without checkpoints", *options)
        self.assertEqual(sorted(folder.rglob("*")), saved)
        options.remove("--init=reference")
        finished = run("smp-run", *options, "--resume")
        self.assertEqual(finished.code, 0, finished.errors)
        self.assertIn("none is left to do", finished.errors)
        # What is passed over is said.
        (folder / "step-4_partial/manifest.json").unlink()
        finished = run("smp-run", *options, "--resume")
        self.assertIn("step-4_partial' expects a manifest.json", finished.errors)
        self.assertIn("resumed 'step-2'", finished.errors)

    def test_two_runs_in_one_folder(self) -> None:
        begin, folder = self.begin(steps=100_000_000), self.path("checkpoints")
        metrics = self.path("run.jsonl")
        options = [*begin, "--checkpoint-dir", folder]
        first = start("smp-run", *options, "--metrics", metrics)
        self.addCleanup(first.kill)
        deadline = time.monotonic() + PATIENCE
        while not metrics.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.expect("expects a folder that no other run is using", *options)
        written = metrics.read_bytes()
        self.expect("expects a file that no other run is writing", *begin,
                    "--metrics", metrics)  # fmt: skip
        self.assertEqual(metrics.read_bytes()[: len(written)], written)
        first.send_signal(signal.SIGINT)
        errors = first.communicate(timeout=PATIENCE)[1]
        self.assertEqual(first.returncode, 130, errors)
        self.assertTrue(list(folder.glob("step-*_partial")))

    def test_a_full_disk_keeps_the_last_checkpoint(self) -> None:
        begin, folder = self.begin(), self.path("checkpoints")
        options = [*begin, "--checkpoint-dir", folder]
        self.assertEqual(run("smp-run", *options).code, 0)
        options = [o for o in options if not str(o).startswith(("--init", "--steps"))]

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))

        finished = subprocess.run(
            [BIN / "smp-run", *map(str, options), "--resume", "--steps=6"],
            capture_output=True, text=True, env=ENVIRONMENT, preexec_fn=limit,
            timeout=PATIENCE,
        )  # fmt: skip
        self.assertEqual(finished.returncode, 1, finished.stderr)
        # Both ranks have files that are too large; either may be first.
        self.assertRegex(
            finished.stderr,
            r"error: cannot write '.*\.saving-step-6/\w+\.safetensors': File too large",
        )
        self.assertEqual(
            sorted(path.name for path in folder.iterdir()),
            ["newest", "step-4_partial"],
        )

    def test_a_data_file_that_is_cut_short(self) -> None:
        begin, metrics = self.begin(steps=100_000_000), self.path("run.jsonl")
        rows = shutil.copy(begin[2], self.path("rows.safetensors"))
        begin[2] = rows
        process = start("smp-run", *begin, "--metrics", metrics)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + PATIENCE
        while not metrics.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        os.truncate(rows, 0)
        errors = process.communicate(timeout=PATIENCE)[1]
        self.assertEqual(process.returncode, 1, errors)
        self.assertIn(f"'{rows}' expects to keep its", errors)

    def test_streams_that_are_closed(self) -> None:
        """No message lands in a file that took the number of a stream."""
        begin, folder = self.begin(), self.path("checkpoints")
        words = [BIN / "smp-run", *begin, "--checkpoint-dir", folder]
        script = " ".join(f"'{word}'" for word in words) + " <&- >&- 2>&-"
        finished = subprocess.run(["sh", "-c", script], timeout=PATIENCE)
        self.assertEqual(finished.returncode, 0)
        options = [o for o in words[1:] if o != "--init=reference"]
        self.assertIn("resumed", run("smp-run", *options, "--resume").errors)

    def test_a_reader_that_leaves(self) -> None:
        """Ctrl-C ends `tee` as well, and nobody reads what a run says."""
        for transport in ("threads", "mpi"):
            begin, folder = self.begin(steps=100_000_000), self.path("checkpoints")
            begin[-1] = f"--transport={transport}"
            words = [BIN / "smp-run", *begin, "--checkpoint-dir", folder]
            process = subprocess.Popen(
                list(map(str, words)), stderr=subprocess.PIPE, env=ENVIRONMENT
            )
            self.addCleanup(process.kill)
            while b"step 1/" not in process.stderr.readline():
                self.assertIsNone(process.poll())
            process.stderr.close()
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(PATIENCE), 130)
            self.assertTrue(list(folder.glob("step-*_partial")))

    def test_output_that_nobody_gets(self) -> None:
        for words in (["--help"], ["--version"], ["--print-ranks", "--ranks=2"]):
            with open("/dev/full", "wb") as full:
                finished = subprocess.run(
                    [BIN / "smp-run", *words], stdout=full, stderr=subprocess.PIPE,
                    text=True, timeout=PATIENCE,
                )  # fmt: skip
            self.assertEqual(finished.returncode, 1)
            self.assertEqual(
                finished.stderr,
                "smp-run: error: cannot write to standard output: No space left on "
                "device\n",
            )


class Interrupts(IntegrationTest):
    def test_none_is_lost(self) -> None:
        """However early it comes, also while ranks are only starting."""
        job = self.compile("gpt2", config_of(2, 1, "1f1b"))
        rows = Reference.of("gpt2").rows(self.folder)
        for milliseconds in (5, 20, 40, 80, 150, 300):
            with self.subTest(milliseconds=milliseconds):
                process = start(
                    "smp-run", job, "--data", rows, "--init=reference",
                    "--steps=100000000", "--threads=1",
                )  # fmt: skip
                self.addCleanup(process.kill)
                time.sleep(milliseconds / 1000)
                process.send_signal(signal.SIGINT)
                errors = process.communicate(timeout=PATIENCE)[1]
                # Before it could be caught, or after.
                self.assertIn(process.returncode, (130, -signal.SIGINT), errors)
                self.assertNotIn("terminated", errors)

    def test_children_may_be_ignored(self) -> None:
        job = self.compile("gpt2", config_of(2, 1, "1f1b"))
        finished = subprocess.run(
            [BIN / "smp-run", job, "--init=reference", "--steps=0"],
            capture_output=True, text=True, env=ENVIRONMENT, timeout=PATIENCE,
            preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
        )  # fmt: skip
        self.assertEqual(finished.returncode, 0, finished.stderr)

    def test_the_second_ends_the_job_at_once(self) -> None:
        job = self.compile("gpt2", config_of(2, 1, "1f1b"))
        rows, metrics = Reference.of("gpt2").rows(self.folder), self.path("run.jsonl")
        process = start(
            "smp-run", job, "--data", rows, "--init=reference",
            "--steps=100000000", "--threads=1", "--metrics", metrics,
        )  # fmt: skip
        self.addCleanup(process.kill)
        deadline = time.monotonic() + PATIENCE
        while not metrics.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.01)
        errors = process.communicate(timeout=PATIENCE)[1]
        self.assertEqual(process.returncode, 130, errors)


if __name__ == "__main__":
    main()
