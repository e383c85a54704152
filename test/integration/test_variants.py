# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models with parameters shared, tied, frozen and idle, several losses and
narrow types have PyTorch's values and gradients, and train as PyTorch does."""

from __future__ import annotations

import copy

import torch
from harness import EXHAUSTIVE, main, run
from safetensors.torch import load_file, save_file
from test_plain_archives import PlainArchives, contiguous, seeded
from torch import nn
from torch.nn import functional as F

# The folders of these are known from here on.
import smp  # isort: skip
from plain import Plain  # isort: skip
from variants import KINDS, LOSSES, NARROW, Penalties, Placed, Shared, loss_of  # isort: skip

ROUTES = ["helper", "raw", "decomposed"]


def converted(inputs: dict, dtype) -> dict:
    return {
        name: value.to(dtype) if value.is_floating_point() else value
        for name, value in inputs.items()
    }


def expected(model: nn.Module, inputs: dict) -> dict:
    """PyTorch's outputs, and gradients as the interpreter names them."""
    model = copy.deepcopy(model)
    outputs = model(**inputs)
    outputs["loss"].backward()
    result = {name: value.detach() for name, value in outputs.items()}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad and parameter.grad is not None:
            result[f"grad/{name}"] = parameter.grad
    squares = [g.double().square().sum() for n, g in result.items() if n.startswith("grad/")]
    result["norm"] = torch.stack(squares).sum().sqrt()
    return result


class VariantsTest(PlainArchives):
    def archive(self, model, inputs, route):
        if route != "helper":
            return self.save(model, inputs, decomposed=route == "decomposed")
        path = self.path("model.pt2")
        smp.export(model, inputs, path, init={".*": "none"})
        return path

    def gradients(self, got: dict, model: nn.Module) -> dict:
        """Results under the first of a parameter's names."""
        names = {id(p): name for name, p in model.named_parameters()}
        alias = {n: names[id(p)] for n, p in model.named_parameters(remove_duplicate=False)}
        found = {}
        for name, value in got.items():
            if name.startswith("grad/"):
                name = "grad/" + alias[name.removeprefix("grad/")]
            self.assertNotIn(name, found)
            found[name] = value
        return found


class Values(VariantsTest):
    def check(self, kind, route: str) -> None:
        model, inputs = seeded(kind), kind.inputs()
        module, weights = self.import_archive(self.archive(model, inputs, route))
        inputs = kind.inputs(4)
        wide = expected(copy.deepcopy(model).double(), converted(inputs, torch.float64))
        for options in ([], ["--microbatches=2"], ["--microbatches=2", "--ranks=2"]):
            got = self.interpret(
                module, weights, inputs, "--precision=f64", "--gradients", *options
            )
            got = self.gradients(got, model)
            for name in got.keys() - wide.keys():
                # PyTorch has None where no gradient arrives.
                self.assertTrue(name.startswith("grad/"), name)
                self.assertEqual(got[name].abs().max().item(), 0, name)
            for name, value in wide.items():
                scalar = value.dim() == 0 and name != "loss" and "grad/" not in name
                if options and scalar:
                    continue  # one for each microbatch
                found = got[name].view(value.shape) if scalar else got[name]
                self.assertClose(found, value, 1e-9, f"{name} {options}")

    def test_variants(self) -> None:
        for kind in KINDS:
            for route in ROUTES if EXHAUSTIVE else ROUTES[:2]:
                with self.subTest(kind.__name__, route=route):
                    self.check(kind, route)

    def test_losses(self) -> None:
        for name, form in LOSSES.items():
            for route in ROUTES if EXHAUSTIVE else ROUTES[1:2]:
                with self.subTest(name, route=route):
                    self.check(loss_of(form), route)

    def check_narrow(self, kind, dtype) -> None:
        """As near to exact arithmetic on the same numbers as PyTorch is."""
        model = seeded(kind).to(dtype)
        inputs = converted(kind.inputs(), dtype)
        module, weights = self.import_archive(self.archive(model, inputs, "raw"))
        inputs = converted(kind.inputs(4), dtype)
        got = self.interpret(module, weights, inputs, "--gradients")
        got = self.gradients(got, model)
        native = expected(model, inputs)
        exact = expected(copy.deepcopy(model).double(), converted(inputs, torch.float64))
        for name, value in exact.items():
            if name not in ("norm", "loss"):
                self.assertEqual(got[name].dtype, native[name].dtype, name)
            scale = value.double().abs().max().clamp_min(1e-6)
            ours, theirs = (
                ((found[name].double() - value).abs().max() / scale).item()
                for found in (got, native)
            )
            bound = 3 * theirs + 8 * torch.finfo(dtype).eps
            self.assertLessEqual(ours, bound, name)

    def test_narrow(self) -> None:
        for kind in NARROW:
            for dtype in (torch.bfloat16, torch.float16):
                with self.subTest(kind.__name__, dtype=dtype):
                    self.check_narrow(kind, dtype)


class Training(VariantsTest):
    STEPS, ROWS = 5, 4

    def trained(self, model, inputs: dict) -> tuple[list, dict]:
        """Decay shows which parameters take part: those with a gradient."""
        model = copy.deepcopy(model)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=0.1)
        losses = []
        for step in range(self.STEPS):
            rows = slice(step * self.ROWS, (step + 1) * self.ROWS)
            optimizer.zero_grad()
            loss = model(**{name: value[rows] for name, value in inputs.items()})["loss"]
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses, dict(model.named_parameters())

    def check(self, kind, route: str, *options) -> None:
        model = seeded(kind)
        archive = self.archive(model, kind.inputs(), route)
        job, data = self.path("job"), self.path("data.safetensors")
        self.run_well(
            "smp-compile", archive, "-o", job, f"--batch-size={self.ROWS}",
            "--microbatches=2", "--optimizer.name=sgd", "--optimizer.lr=0.05",
            "--optimizer.momentum=0.9", "--optimizer.weight_decay=0.1", *options,
        )  # fmt: skip
        _, weights = self.import_archive(archive)
        inputs = kind.inputs(self.ROWS * self.STEPS)
        save_file(contiguous(inputs), data)
        got = self.train(
            job, data, self.STEPS, f"--init={weights}", "--transport=threads",
            "--data-order=file",
        )  # fmt: skip
        losses, parameters = self.trained(model, inputs)
        self.assertLosses(got.losses, losses, 1e-5)
        before = load_file(weights)
        names = dict(model.named_parameters(remove_duplicate=False))
        buffers = dict(model.named_buffers())
        for name, tensor in got.parameters.items():
            if name in buffers:
                self.assertEqual(bytes(tensor.data), buffers[name].numpy().tobytes(), name)
                continue
            value = torch.frombuffer(bytearray(tensor.data), dtype=torch.float32)
            first = next(n for n, p in model.named_parameters() if p is names[name])
            end = parameters[first].detach()
            self.assertClose(value.view(end.shape), end, 1e-5, name)
            if torch.equal(end, names[name].detach()):
                self.assertTrue(torch.equal(value.view(end.shape), before[name]), name)

    def test_variants(self) -> None:
        for kind in KINDS:
            for route in ROUTES if EXHAUSTIVE else ["raw"]:
                for stages in (1, 2) if EXHAUSTIVE else (2,):
                    with self.subTest(kind.__name__, route=route, stages=stages):
                        self.check(kind, route, f"--pipeline-parallel-degree={stages}")

    def test_penalties_on_weights_of_several_stages(self) -> None:
        """Each is computed where the weights are."""
        self.check(Penalties, "raw", "--pipeline-parallel-degree=3")


class NotAdditive(Plain):
    """Losses that parts of a batch have none of."""

    def __init__(self, form):
        super().__init__()
        self.form = form

    def forward(self, x, target):
        y = self.second(self.first(x))
        return {"loss": self.form(y, target), "y": y}


class Choices(nn.Module):
    """Integers that choose: of a dim, and as labels of losses that ignore one
    number or another."""

    CLASSES = 3

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, self.CLASSES)

    def forward(self, x, place, labels, target):
        y = self.first(x)
        loss = F.cross_entropy(y, labels, ignore_index=255)
        loss = loss + F.nll_loss(F.log_softmax(y, -1), target, ignore_index=-7)
        return {"loss": loss + y.gather(1, place).square().mean()}

    @staticmethod
    def inputs(rows: int = 2) -> dict:
        generator = torch.Generator().manual_seed(1)
        labels = torch.arange(rows) % Choices.CLASSES
        return {
            "x": torch.randn(rows, 4, generator=generator),
            "place": labels.flip(0)[:, None].contiguous(),
            "labels": labels.clone(),
            "target": labels.clone(),
        }


class Refused(VariantsTest):
    FORMS = {
        "smp.sqrt": lambda y, t: F.mse_loss(y, t).sqrt(),
        "smp.mul": lambda y, t: F.mse_loss(y, t) * F.l1_loss(y, t),
        "smp.div": lambda y, t: (y * t).sum() / t.abs().sum(),
        "smp.maximum": lambda y, t: torch.maximum(F.mse_loss(y, t), F.l1_loss(y, t)),
    }

    def test_losses_that_do_not_add_up(self) -> None:
        for op, form in self.FORMS.items():
            with self.subTest(op):
                model = seeded(lambda: NotAdditive(form))
                finished = run("smp-import", self.archive(model, Plain.inputs(), "raw"))
                self.assertEqual(finished.code, 1, finished.errors)
                self.assertIn("expects a loss that is a sum or a mean over samples", finished.errors)
                self.assertIn(f"got '{op}' of one", finished.errors)
                self.assertNotIn("<unknown>", finished.errors)
                self.assertIn("let the model return what is to be added", finished.errors)

    def test_losses_that_are_no_scalars(self) -> None:
        model = seeded(lambda: NotAdditive(lambda y, t: (y - t).square()))
        archive = self.archive(model, Plain.inputs(), "raw")
        finished = run("smp-import", archive)
        self.assertEqual(finished.code, 1, finished.errors)
        self.assertRegex(finished.errors, r"error: expects a loss that is a scalar, got 'tensor<")
        self.assertIn("note: reduce it to one number, as '.mean()' does", finished.errors)

    def test_models_that_are_not_of_float32(self) -> None:
        for dtype, name in ((torch.float64, "f64"), (torch.bfloat16, "bf16")):
            model = seeded(lambda: NotAdditive(F.mse_loss)).to(dtype)
            archive = self.archive(model, converted(Plain.inputs(), dtype), "helper")
            finished = run("smp-compile", archive, "-o", self.path("job"))
            self.assertEqual(finished.code, 1, finished.errors)
            self.assertRegex(finished.errors, rf"expects parameters of f32, got '.*' of '{name}'")
            self.assertIn("note: export 'model.float()'", finished.errors)

    def test_models_without_a_trained_parameter(self) -> None:
        model = seeded(lambda: NotAdditive(F.mse_loss)).requires_grad_(False)
        archive, job = self.archive(model, Plain.inputs(), "helper"), self.path("job")
        self.assertEqual(run("smp-compile", archive, "-o", job, "--batch-size=2").code, 0)
        data = self.path("data.safetensors")
        save_file(Plain.inputs(4), data)
        finished = run("smp-run", job, "--init=reference", "--steps=1", "--data", data)
        self.assertEqual(finished.code, 1, finished.errors)
        self.assertIn("expects a parameter to train, got none", finished.errors)
        finished = run("smp-run", job, "--init=reference", "--eval-data", data)
        self.assertEqual(finished.code, 0, finished.errors)

    def test_integers_that_choose_what_is_not_there(self) -> None:
        archive, job = self.archive(seeded(Choices), Choices.inputs(), "helper"), self.path("job")
        finished = run("smp-compile", archive, "-o", job, "--batch-size=4")
        self.assertEqual(finished.code, 0, finished.errors)
        data = self.path("data.safetensors")
        for name, value, expected in (
            ("place", 3, "0 to 2, got 3"), ("place", -1, "0 to 2, got -1"),
            ("labels", 3, "0 to 2 or 255, got 3"), ("labels", 255, None),
            ("labels", -100, "0 to 2 or 255, got -100"), ("target", -7, None),
            ("target", 255, "0 to 2 or -7, got 255"),
        ):  # fmt: skip
            with self.subTest(name, value=value):
                inputs = Choices.inputs(4)
                inputs[name][1] = value
                save_file(inputs, data)
                finished = run(
                    "smp-run", job, "--init=reference", "--steps=1", "--data", data
                )
                self.assertEqual(finished.code, int(expected is not None), finished.errors)
                if expected:
                    self.assertIn(
                        f"'{name}' expects integers from {expected} at position 1",
                        finished.errors,
                    )

    def test_computed_integers_that_choose_what_is_not_there(self) -> None:
        """No number of the data says so: what they choose is no number."""
        archive, job = self.archive(seeded(Placed), Placed.inputs(), "helper"), self.path("job")
        finished = run("smp-compile", archive, "-o", job, "--batch-size=4")
        self.assertEqual(finished.code, 0, finished.errors)
        inputs, data = Placed.inputs(4), self.path("data.safetensors")
        for length, code in ((6, 0), (7, 1), (-5, 0), (-6, 1)):
            with self.subTest(length=length):
                inputs["length"][2] = length
                save_file(inputs, data)
                finished = run(
                    "smp-run", job, "--init=reference", "--steps=1", "--data", data
                )
                self.assertEqual(finished.code, code, finished.errors)
                if code:
                    self.assertIn("step 1 expects a finite loss, got nan", finished.errors)
                    self.assertIn("look for indices out of range", finished.errors)

    def test_stages_that_a_shared_module_spans(self) -> None:
        archive = self.archive(seeded(Shared), Shared.inputs(), "raw")
        finished = run(
            "smp-compile", archive, "-o", self.path("job"), "--batch-size=4",
            "--pipeline-parallel-degree=5",
        )  # fmt: skip
        self.assertEqual(finished.code, 1, finished.errors)
        self.assertIn("between two that read 'block.0.weight' stay on one stage", finished.errors)

    def test_forms_of_operators(self) -> None:
        for reason, form in (
            ("of an order that is neither 1 nor 2", lambda y: y.norm(p=3, dim=-1)),
            ("over the batch", lambda y: y.norm(dim=0)),
            ("over the batch", lambda y: y.logsumexp(0)),
            ("over the batch, or over too few elements", lambda y: y.std(0)),
            ("by a factor that is no whole number",
             lambda y: F.interpolate(y, size=7)),
        ):  # fmt: skip
            with self.subTest(reason):
                model = seeded(lambda: NotAdditive(lambda y, t: (form(y) ** 2).sum()))
                finished = run("smp-import", self.archive(model, Plain.inputs(), "raw"))
                self.assertEqual(finished.code, 1, finished.errors)
                self.assertIn(f" {reason}, 1 time", finished.errors)


if __name__ == "__main__":
    main()
