# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""After each phase, for each model, layout and schedule, the interpreter's
virtual ranks train as the undistributed model does, to 1e-12 in float64.

Rows are cut into the same microbatches by each layout, so that even a model
with batch norm has the same losses and parameters. Running averages depend on
the number of owners; they are those of the undistributed model of as many.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path

from evidence import Table
from harness import (
    DATA,
    EXHAUSTIVE,
    IntegrationTest,
    Reference,
    first_rows,
    largest,
    largest_difference,
    main,
    read_safetensors,
    run,
    write_safetensors,
)
from test_layouts import CLIPPING, FACTORS, SAMPLES, pairwise

STEPS = 4
ROWS = 2  # of a microbatch
TOLERANCE = 1e-12
PHASES = {
    "partition": "3-partition.mlir",
    "stage": "4-stage.mlir",
    "differentiate": "5-differentiate.mlir",
    "distribute": "6-distribute.mlir",
    "schedule": "7-schedule.mlir",
    "lower": "8-lower.mlir",
}
UNDISTRIBUTED = "1-specialize.mlir"


def config_of(pp: int, rdp: int, schedule: str) -> dict:
    """By SGD: AdamW makes whole steps of the rounding noise of gradients that
    are nearly zero."""
    return {
        "pipeline_parallel_degree": pp,
        "pipeline": schedule,
        "microbatches": SAMPLES // rdp // ROWS,
        "batch_size": SAMPLES // rdp,
        "optimizer": {"name": "sgd", "lr": 0.05, "momentum": 0.9},
        "gradient_clipping": CLIPPING,
    }


class VirtualRanks(IntegrationTest):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.dumped: dict[str, Path] = {}
        cls.undistributed: dict[tuple, dict] = {}

    def phases(self, model: str, config: dict) -> Path:
        """The folder of the modules after each phase."""
        key = json.dumps([model, config])
        if key not in self.dumped:
            folder = self.path(f"{model}-phases")
            settings = self.path("smp.json")
            settings.write_text(json.dumps(config))
            finished = run(
                "smp-compile", DATA / f"{model}.pt2", "--config", settings, "--quiet",
                "--stop-after=lower", "--dump-phases", folder,
            )  # fmt: skip
            self.assertEqual(finished.code, 0, finished.errors)
            (folder / "smp.json").write_text(settings.read_text())
            self.dumped[key] = folder
        return self.dumped[key]

    def interpret(self, model: str, config: dict, file: str, ranks: int) -> dict:
        folder = self.phases(model, config)
        rows = self.folder / f"{model}-rows.safetensors"
        if not rows.exists():
            inputs = Reference.of(model).below("steps/inputs/").items()
            count = STEPS * SAMPLES
            write_safetensors(rows, {n: first_rows(t, count) for n, t in inputs})
        results = self.path("results.safetensors")
        finished = run(
            "smp-interpret", folder / file, "--config", folder / "smp.json",
            "--precision=f64", f"--ranks={ranks}", f"--steps={STEPS}",
            "--inputs", rows, "-o", results,
        )  # fmt: skip
        self.assertEqual(finished.code, 0, finished.errors)
        # Momentum of a gradient that is zero but for rounding is noise.
        return {
            name: tensor
            for name, tensor in read_safetensors(results)[0].items()
            if not name.startswith("optimizer/")
        }

    def reference(self, model: str, rdp: int) -> dict:
        """Results of the undistributed model, states of `rdp` owners of it."""
        if (model, rdp) not in self.undistributed:
            config = config_of(1, rdp, "simple")
            found = self.interpret(model, config, UNDISTRIBUTED, rdp)
            if rdp == 1:
                self.assertGreater(max(found["norms"].values()), CLIPPING)
            else:
                states = {n: t for n, t in found.items() if n.startswith("states/")}
                found = self.reference(model, 1) | states
            self.undistributed[model, rdp] = found
        return self.undistributed[model, rdp]

    def check(self, model: str, layout: tuple, schedule: str, phase: str) -> float:
        """The largest error, relative to its tensor's largest element."""
        pp, rdp = layout
        config = config_of(pp, rdp, schedule)
        found = self.interpret(model, config, PHASES[phase], pp * rdp)
        expected = self.reference(model, rdp)
        self.assertEqual(found.keys(), expected.keys())
        worst = 0.0
        for name, tensor in expected.items():
            error = largest_difference(found[name], tensor)
            self.assertLessEqual(error, TOLERANCE * largest(tensor), name)
            worst = max(worst, error / (largest(tensor) or 1))
        return worst

    def test_matrix(self) -> None:
        names = ("model", "layout", "schedule")
        factors = {name: FACTORS[name] for name in names} | {"phase": list(PHASES)}
        if EXHAUSTIVE:
            every = itertools.product(*factors.values())
            cases = [dict(zip(factors, case)) for case in every]
        else:
            cases = pairwise(factors, seed=5)
        print(f"{len(cases)} cases")
        table = Table(
            "virtual-ranks",
            "On virtual ranks each phase trains as the undistributed model, to 1e-12",
            ["model", "stages", "replicas", "schedule", *PHASES],
        )
        self.addCleanup(table.write)
        errors: dict[tuple, dict] = {}
        for case in cases:
            pp, rdp = case["layout"]
            row = errors.setdefault((case["model"], pp, rdp, case["schedule"]), {})
            row[case["phase"]] = "failed"
            with self.subTest(**case):
                row[case["phase"]] = f"{self.check(**case):.1e}"
        for key, row in errors.items():
            table.add(*key, *(row.get(phase, "not run") for phase in PHASES))


if __name__ == "__main__":
    main()
