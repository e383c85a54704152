# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ten steps from the reference weights arrive where PyTorch does."""

from __future__ import annotations

import statistics

from harness import (
    TRAINED_MODELS,
    IntegrationTest,
    Reference,
    largest,
    largest_difference,
    main,
)


def flat_config(settings: dict) -> dict:
    """The configuration of an optimizer's settings in the reference data."""
    optimizer = {k: v for k, v in settings.items() if k != "gradient_clipping"}
    config = {"optimizer": optimizer, "lr_schedule": {"name": "constant"}}
    if "gradient_clipping" in settings:
        config["gradient_clipping"] = settings["gradient_clipping"]
    return config


class Trajectories(IntegrationTest):
    def check(self, model: str, optimizer: str) -> None:
        reference = Reference.of(model)
        rows = reference.settings["rows"]
        config = flat_config(reference.settings["optimizers"][optimizer])
        config |= {"batch_size": rows, "microbatches": 2}
        job = self.compile(model, config)
        data = reference.rows(self.folder)
        trained = self.train(
            job, data, reference.settings["steps"],
            "--data-order=file", "--transport=threads", "--threads=1",
        )  # fmt: skip
        expected = reference.tensors[f"{optimizer}/losses"].values().tolist()
        self.assertEqual(len(trained.losses), len(expected))
        for step, (got, wanted) in enumerate(zip(trained.losses, expected)):
            self.assertLessEqual(abs(got - wanted), 1e-4, f"step {step}")
        parameters = reference.below(f"{optimizer}/params/")
        # Besides, the run has the model's states, as rotary frequencies.
        self.assertLessEqual(parameters.keys(), trained.parameters.keys())
        self.assertTrainedAlike(trained.parameters, parameters, self.initial(job))
        if optimizer == "sgd":
            norms = reference.tensors["sgd/norms"].values().tolist()
            self.assertLosses(trained.norms, norms, 1e-3)
            self.check_tensors(model, trained.parameters, parameters, job)

    def check_tensors(self, model: str, got: dict, expected: dict, job) -> None:
        """Plain gradients: each tensor too, unless its gradient is rounding
        noise (as that of a key projection's bias)."""
        initial = self.initial(job)
        gradients = Reference.of(model).below("b2/grad/")
        sizes = {name: largest(gradient) for name, gradient in gradients.items()}
        limit = 1e-6 * statistics.median(sizes.values())
        noise = [name for name in expected if sizes[name] < limit]
        print(f"{model}: not compared, since without gradient: {noise or 'none'}")
        self.assertLess(len(noise), len(expected) / 4)
        for name in expected.keys() - set(noise):
            moved = largest_difference(expected[name], initial[name])
            error = largest_difference(got[name], expected[name])
            self.assertGreater(moved, 0, name)
            self.assertLessEqual(error, 1e-3 * moved, name)


def add_test(model: str, optimizer: str) -> None:
    """One method each, so that a failure names its model."""

    def test(self) -> None:
        self.check(model, optimizer)

    setattr(Trajectories, f"test_{model}_{optimizer}".replace("-", "_"), test)


for name in TRAINED_MODELS:
    for kind in Reference.of(name).settings["optimizers"]:
        add_test(name, kind)


if __name__ == "__main__":
    main()
