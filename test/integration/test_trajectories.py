# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ten steps from the reference weights arrive where PyTorch does."""

from __future__ import annotations

import statistics

from harness import (
    TRAINED_MODELS,
    IntegrationTest,
    Reference,
    first_rows,
    largest,
    largest_difference,
    main,
    models_with,
    write_safetensors,
)


def flat_config(settings: dict) -> dict:
    """The configuration of an optimizer's settings in the reference data."""
    optimizer = {k: v for k, v in settings.items() if k != "gradient_clipping"}
    config = {"optimizer": optimizer, "lr_schedule": {"name": "constant"}}
    if "gradient_clipping" in settings:
        config["gradient_clipping"] = settings["gradient_clipping"]
    return config


class Trajectories(IntegrationTest):
    def test_first_loss(self) -> None:
        """Of every model without random numbers; what is given as data beside
        tokens, as padding masks and positions, comes in here."""
        for model in models_with("b2/f32/train/loss"):
            with self.subTest(model=model):
                reference = Reference.of(model)
                job = self.compile(model, {"batch_size": 2})
                trained = self.train(
                    job, reference.rows(self.folder, "b2/inputs/"), 1,
                    "--data-order=file", "--transport=threads", "--threads=1",
                )  # fmt: skip
                loss = reference.tensors["b2/f32/train/loss"].values().tolist()
                self.assertLosses(trained.losses, loss, 1e-5)

    def check(self, model: str, optimizer: str, microbatches: int = 2) -> None:
        reference = Reference.of(model)
        rows = reference.settings["rows"]
        config = flat_config(reference.settings["optimizers"][optimizer])
        config |= {"batch_size": rows, "microbatches": microbatches}
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

    def check_statistics(self, model: str, optimizer: str) -> None:
        """Of batch norms, whose statistics are a microbatch's: PyTorch's step is
        one. Also evaluation, which uses them, over a ragged last batch."""
        self.check(model, optimizer, microbatches=1)
        reference = Reference.of(model)
        config = flat_config(reference.settings["optimizers"][optimizer])
        config |= {"batch_size": reference.settings["rows"]}
        evaluated = write_safetensors(
            self.path("evaluated.safetensors"),
            {
                name: first_rows(tensor, 77)
                for name, tensor in reference.below("steps/inputs/").items()
            },
        )
        steps = reference.settings["steps"]
        trained = self.train(
            self.compile(model, config), reference.rows(self.folder), steps,
            "--data-order=file", "--transport=threads", "--threads=2",
            "--eval-data", evaluated,
        )  # fmt: skip
        states = reference.below(f"{optimizer}/states/")
        self.assertGreater(len(states), 0)
        for name, expected in states.items():
            error = largest_difference(trained.parameters[name], expected)
            self.assertLessEqual(error, 1e-4 * largest(expected), name)
        loss = reference.tensors[f"{optimizer}/eval_loss"].values()[0]
        self.assertLosses(trained.evaluations, [loss], 1e-4)

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
        if Reference.of(model).below(f"{optimizer}/states/"):
            self.check_statistics(model, optimizer)
        else:
            self.check(model, optimizer)

    setattr(Trajectories, f"test_{model}_{optimizer}".replace("-", "_"), test)


for name in TRAINED_MODELS:
    for kind in Reference.of(name).settings["optimizers"]:
        add_test(name, kind)


if __name__ == "__main__":
    main()
