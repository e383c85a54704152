# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From the second step on smp-run and its kernels ask for no memory.

A library before malloc (runtime/test/Allocations) counts who asks inside of
steps. Calls from within MPI, oneDNN and other libraries are theirs: they are
listed. A step here is all that the training loop does for it, its line of the
metrics and of the progress included.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from harness import BIN, ENVIRONMENT, IntegrationTest, Reference, main

LIBRARY = BIN / "libSmpCountAllocations.so"
STEPS = 6
SHOW = os.environ.get("SMP_TEST_SHOW", "0") == "1"  # stacks of our calls


def config_of(pp: int, schedule: str) -> dict:
    return {
        "pipeline_parallel_degree": pp,
        "pipeline": schedule,
        "microbatches": 2,
        "batch_size": 4,
        "gradient_clipping": 1.0,
    }


class Allocations(IntegrationTest):
    def calls_of(self, job: Path, data: Path, ranks: int, *options: object) -> Counter:
        """Calls by who made them, of all ranks; 'smp' for ours."""
        folder = self.path("calls")
        folder.mkdir()
        ENVIRONMENT.update(LD_PRELOAD=str(LIBRARY), SMP_ALLOCATIONS=str(folder))
        try:
            trained = self.train(
                job, data, STEPS, "--ranks", ranks, *options
            )  # fmt: skip
        finally:
            del ENVIRONMENT["LD_PRELOAD"], ENVIRONMENT["SMP_ALLOCATIONS"]
        self.assertEqual(len(trained.losses), STEPS)
        calls, steps = Counter(), 0
        for path in folder.iterdir():
            first, *sites = path.read_text().splitlines()
            steps += int(first.split()[1])
            for site in sites:
                count, owner, function, *stack = site.split()
                ours = Path(owner) == BIN / "smp-run" or str(job) in owner
                calls["smp" if ours else Path(owner).name] += int(count)
                if ours and SHOW:
                    print(f"{count} {function} of {owner} at {' '.join(stack)}")
        self.assertEqual(steps, (STEPS - 1) * ranks)
        return calls

    def test_no_step_allocates(self) -> None:
        for model in ("gpt2", "resnet"):
            for pp, schedule in ((1, "simple"), (2, "interleaved")):
                job = self.compile(model, config_of(pp, schedule))
                data = Reference.of(model).rows(self.folder)
                for options in (
                    ["--transport=threads", "--threads=1"],
                    ["--transport=threads", "--threads=3"],
                    ["--transport=mpi"],
                ):
                    with self.subTest(model=model, pp=pp, options=options):
                        calls = self.calls_of(job, data, pp * 2, *options)
                        print(f"{model}, {pp} stages, {options}: {dict(calls)}")
                        self.assertEqual(calls["smp"], 0)

    def test_token_files(self) -> None:
        job = self.compile("byte-gpt", config_of(2, "1f1b"))
        text = self.path("text.u8")
        text.write_bytes(b"the quick brown fox jumps over the lazy dog " * 400)
        calls = self.calls_of(job, text, 4, "--transport=threads", "--init=random")
        self.assertEqual(calls["smp"], 0)

    def test_a_trace_allocates(self) -> None:
        """The one exception, and a proof that calls are seen."""
        job = self.compile("gpt2", config_of(2, "interleaved"))
        data, trace = Reference.of("gpt2").rows(self.folder), self.path("trace.json")
        for transport in ("threads", "mpi"):
            calls = self.calls_of(
                job, data, 4, f"--transport={transport}", "--trace", trace
            )
            self.assertGreater(calls["smp"], 0)


if __name__ == "__main__":
    main()
