# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A job is for any number of replicas, and one process runs 64 ranks."""

from __future__ import annotations

import json
from pathlib import Path

from harness import IntegrationTest, Reference, first_rows, main, write_safetensors

ROWS = 64  # of a step
STEPS = 2


class ManyRanks(IntegrationTest):
    @staticmethod
    def content(job: Path) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in job.iterdir()}

    def train_on(self, job: Path, replicas: int) -> list[float]:
        tensors = Reference.of("gpt2").below("steps/inputs/")
        rows = {name: first_rows(tensor, ROWS) for name, tensor in tensors.items()}
        data = write_safetensors(self.path("rows.safetensors"), rows)
        return self.train(
            job, data, STEPS, "--ranks", 2 * replicas, "--transport=threads",
            "--data-order=file",
        ).losses  # fmt: skip

    def compile_for(self, replicas: int) -> Path:
        rows = ROWS // replicas
        config = {
            "pipeline_parallel_degree": 2,
            "batch_size": rows,
            "microbatches": rows,
            "gradient_clipping": 1.0,
        }
        return self.compile("gpt2", config)

    def test_64_ranks_of_one_process(self) -> None:
        expected = self.train_on(self.compile_for(1), 1)
        losses = self.train_on(self.compile_for(32), 32)
        self.assertLosses(losses, expected, 1e-5)

    def test_a_job_does_not_know_its_replicas(self) -> None:
        """So it compiles in the same time to the same programs for 1 and 1,024:
        nothing of it says how many, and running it on more leaves it as it is."""
        job = self.compile_for(32)
        before = self.content(job)
        manifest = json.loads(before["job.json"])
        self.assertEqual(manifest["axes"], {"pp": 2, "tp": 1})
        replicated = [g for g in manifest["groups"] if "rdp" in g["axes"]]
        self.assertTrue(replicated)
        for group in replicated:
            self.assertNotIn("members", group)
        self.train_on(job, 1)
        self.train_on(job, 32)
        self.assertEqual(self.content(job), before)


if __name__ == "__main__":
    main()
