# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What torch.export.save writes, raw and decomposed, is read as what smp.export
writes: the same IR, PyTorch's values and gradients, and a job that trains."""

from __future__ import annotations

import copy
import re
import sys
import unittest
from pathlib import Path

from harness import EXHAUSTIVE, MODELS, IntegrationTest, main, run

sys.path[:0] = [str(MODELS), str(MODELS.parent.parent / "python")]

import torch  # noqa: E402
from models import MODELS as LISTED  # noqa: E402
from plain import (  # noqa: E402
    KINDS,
    Autocast,
    GradientFree,
    InPlace,
    NextToken,
    Plain,
    SliceAssignment,
    SmoothedLabels,
    Storages,
    TwoLosses,
)
from safetensors.torch import load_file, save_file  # noqa: E402
from structure import structures  # noqa: E402
from torch import nn  # noqa: E402
from torch.export import Dim  # noqa: E402

import smp  # noqa: E402

torch.set_num_threads(1)


class WithLoss(nn.Module):
    def __init__(self, model, loss):
        super().__init__()
        self.model = model
        self.loss = loss

    def forward(self, input, labels):
        output = self.model(input)
        return {"loss": self.loss(output, labels), "output": output}


def seeded(make) -> nn.Module:
    torch.manual_seed(7)
    return make().train()


def contiguous(tensors: dict) -> dict:
    return {name: value.detach().clone().contiguous() for name, value in tensors.items()}


class PlainArchives(IntegrationTest):
    def save(self, model, inputs, decomposed=False, dynamic=True) -> Path:
        """A .pt2 of the model in training mode, with its weights."""
        batch = Dim("batch", min=1)
        rows = next(iter(inputs.values())).shape[0]
        shapes = {
            name: {0: batch} if value.dim() and value.shape[0] == rows else None
            for name, value in inputs.items()
        }
        program = torch.export.export(
            model, (), inputs, dynamic_shapes=shapes if dynamic else None
        )
        if decomposed:
            program = program.run_decompositions({})
        path = self.path("model.pt2")
        torch.export.save(program, str(path))
        return path

    def run_well(self, tool: str, *arguments) -> str:
        finished = run(tool, *arguments)
        self.assertEqual(finished.code, 0, finished.errors)
        return finished.errors

    def import_archive(self, archive: Path, *options) -> tuple[Path, Path]:
        module, weights = self.path("model.mlir"), self.path("weights.safetensors")
        self.run_well(
            "smp-import", archive, "-o", module, "--weights", weights, *options
        )
        return module, weights

    def interpret(self, module, weights, inputs, *options) -> dict:
        given, results = self.path("in.safetensors"), self.path("out.safetensors")
        save_file(contiguous(inputs), given)
        self.run_well(
            "smp-interpret", module, "--weights", weights, "--inputs", given,
            "-o", results, *options,
        )  # fmt: skip
        return load_file(results)

    def assertClose(self, got, expected, tolerance: float, what: str) -> None:
        self.assertEqual(tuple(got.shape), tuple(expected.shape), what)
        scale = max(expected.abs().max().item(), 1e-12)
        error = (got.double() - expected.double()).abs().max().item() / scale
        self.assertLessEqual(error, tolerance, what)

    def check_values(self, model, inputs, archive, *options) -> None:
        """Outputs and gradients are those of the model in double precision."""
        module, weights = self.import_archive(archive, *options)
        got = self.interpret(
            module, weights, inputs, "--precision=f64", "--gradients"
        )
        double = copy.deepcopy(model).double()
        outputs = double(**{
            name: value.double() if value.is_floating_point() else value
            for name, value in inputs.items()
        })  # fmt: skip
        outputs["loss"].backward()
        for name, value in outputs.items():
            self.assertClose(got[name], value.detach(), 1e-9, name)
        compared = 0
        for name, parameter in double.named_parameters():
            if f"grad/{name}" not in got:
                continue
            gradient = parameter.grad
            if gradient is None:
                gradient = torch.zeros_like(parameter)
            self.assertClose(got[f"grad/{name}"], gradient, 1e-9, name)
            compared += 1
        self.assertGreater(compared, 2)

    def check_routes(self, model, inputs, scopes: bool = True) -> None:
        """Three ways to export a model give one structure."""
        helper = self.path("helper.pt2")
        smp.export(model, inputs, helper, init={".*": "none"})
        modules = {"helper": self.path("helper.mlir")}
        self.run_well("smp-import", helper, "-o", modules["helper"])
        for route in ("raw", "decomposed"):
            archive = self.save(model, inputs, decomposed=route == "decomposed")
            modules[route], _ = self.import_archive(archive)
        found = {
            route: structures(module, scopes)["train"]
            for route, module in modules.items()
        }
        for route in ("raw", "decomposed"):
            self.assertGreater(len(found[route].ops), 5)
            self.assertEqual(
                found[route].returned,
                found["helper"].returned,
                f"{route}\n{found['helper'].difference(found[route])}",
            )


class Tables(unittest.TestCase):
    """The reader's tables against the schemas of ATen."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.imported = run("smp-import", "--list-operators").output.split()

    def overload(self, name: str, overload: str):
        packet = getattr(torch.ops.aten, name, None)
        return getattr(packet, overload, None)

    def test_views(self) -> None:
        source = MODELS.parent.parent / "lib" / "Import" / "TensorViews.cpp"
        known = re.findall(r'\{"(\w+)", Form::', source.read_text())
        self.assertGreater(len(known), 40)
        views = 0
        for target in self.imported:
            _, name, overload = target.split(".")
            found = self.overload(name, overload)
            if found is None:
                continue
            aliases = [r.alias_info for r in found._schema.returns]
            if any(a is not None and not a.is_write for a in aliases):
                self.assertIn(name, known, target)
                views += 1
        self.assertGreater(views, 30)

    def test_twins(self) -> None:
        """An operator in place takes what its twin takes, under the same names
        but for the operand's of dropouts."""
        twins = 0
        for target in self.imported:
            _, name, overload = target.split(".")
            twin = self.overload(name, overload)
            in_place = f"__i{name[2:]}" if name.startswith("__") else f"{name}_"
            if name == "pow":
                overload = overload.removeprefix("Tensor_")
            found = self.overload(in_place, overload)
            if twin is None or found is None:
                continue
            expected = [a.name for a in twin._schema.arguments]
            got = [a.name for a in found._schema.arguments]
            if "dropout" in name:
                self.assertEqual(expected[0], "input", target)
                expected[0] = "self"
            self.assertLessEqual(set(got), set(expected), target)
            self.assertEqual(got[0], "self", target)
            twins += 1
        self.assertGreater(twins, 50)


class Routes(PlainArchives):
    def test_models(self) -> None:
        for listed in LISTED:
            if (listed.untrained or listed.random) and not EXHAUSTIVE:
                continue
            with self.subTest(listed.name):
                model = seeded(listed.build)
                if listed.loss:
                    model = WithLoss(model, listed.loss)
                inputs = listed.inputs(2, torch.Generator().manual_seed(0))
                self.check_routes(model, inputs)

    def test_models_by_hand(self) -> None:
        for kind in KINDS:
            if kind is GradientFree:
                continue
            with self.subTest(kind.__name__):
                self.check_routes(seeded(kind), kind.inputs())

    def test_autocast(self) -> None:
        """A decomposition forgets the modules of what autocast surrounds."""
        self.check_routes(seeded(Autocast), Autocast.inputs(), scopes=False)


class Values(PlainArchives):
    def test_models_by_hand(self) -> None:
        for kind in KINDS:
            for decomposed in (False, True):
                # The decomposed graph has lost the regions.
                if kind is GradientFree and decomposed:
                    continue
                with self.subTest(kind.__name__, decomposed=decomposed):
                    model, inputs = seeded(kind), kind.inputs()
                    archive = self.save(model, inputs, decomposed)
                    self.check_values(model, kind.inputs(3), archive)

    def test_autocast(self) -> None:
        """In the written types: what is bfloat16 there is so here."""
        model, inputs = seeded(Autocast), Autocast.inputs()
        module, weights = self.import_archive(self.save(model, inputs))
        got = self.interpret(module, weights, inputs)
        with torch.no_grad():
            expected = model(**inputs)
        self.assertClose(got["y"], expected["y"], 2e-2, "y")
        full = self.interpret(module, weights, inputs, "--precision=f64")
        # The narrow products are seen: full precision is something else.
        self.assertGreater((full["y"] - got["y"]).abs().max().item(), 1e-4)

    def test_narrow_models(self) -> None:
        for dtype in (torch.bfloat16, torch.float16):
            with self.subTest(str(dtype)):
                model = seeded(Plain).to(dtype)
                inputs = {k: v.to(dtype) for k, v in Plain.inputs().items()}
                module, weights = self.import_archive(self.save(model, inputs))
                self.assertEqual(load_file(weights)["first.weight"].dtype, dtype)
                got = self.interpret(module, weights, inputs)
                expected = model(**inputs)
                self.assertClose(got["y"], expected["y"].detach(), 3e-2, "y")

    def test_lost_regions_are_warned_of(self) -> None:
        model, inputs = seeded(GradientFree), GradientFree.inputs()
        for decomposed in (False, True):
            archive = self.save(model, inputs, decomposed)
            errors = self.run_well("smp-import", archive, "-o", "/dev/null")
            warned = "expects regions under torch.no_grad() to be marked" in errors
            self.assertEqual(warned, decomposed, errors)


class Descriptions(PlainArchives):
    def header(self, archive: Path, *options) -> str:
        module, _ = self.import_archive(archive, *options)
        return module.read_text()

    def test_parameters(self) -> None:
        model = seeded(Storages)
        module, weights = self.import_archive(self.save(model, Storages.inputs()))
        text, stored = module.read_text(), load_file(weights)
        self.assertIn('@fourth.weight : tensor<8x8xf32> aliases ["first.weight", "third.weight"]', text)
        self.assertRegex(text, r'smp.parameter @frozen : tensor<8xf32>.*frozen')
        for name in ("front", "back", "turned", "unused"):
            value = dict(model.named_parameters())[name]
            self.assertTrue(torch.equal(stored[name], value.detach()), name)
        self.assertIn("fourth.weight", stored)
        self.assertNotIn("third.weight", stored)

    def test_convention(self) -> None:
        for shift, convention in ((False, "next-token"), (True, "hf")):
            model = seeded(lambda: NextToken(shift))
            for decomposed in (False, True):
                archive = self.save(model, model.inputs(), decomposed)
                text = self.header(archive)
                self.assertIn(f'smp.data_convention = "{convention}"', text)
        text = self.header(archive, "--data-convention=none")
        self.assertNotIn("data_convention", text)

    def test_labels_that_cannot_be_followed(self) -> None:
        archive = self.save(seeded(SmoothedLabels), NextToken.inputs())
        finished = run("smp-import", archive)
        self.assertEqual(finished.code, 1)
        self.assertIn("expects the labels to reach a cross-entropy", finished.errors)
        text = self.header(archive, "--data-convention=next-token")
        self.assertIn('smp.data_convention = "next-token"', text)

    def test_several_losses(self) -> None:
        archive = self.save(seeded(TwoLosses), TwoLosses.inputs())
        finished = run("smp-import", archive)
        self.assertEqual(finished.code, 1)
        self.assertIn("expects one scalar output that is the loss, got 2", finished.errors)
        self.assertIn("--loss-output=", finished.errors)
        text = self.header(archive, "--loss-output=output_1", "--labels=answers")
        for name, role in (("output_0", "output"), ("output_1", "loss"),
                           ("answers", "label"), ("extra", "input")):  # fmt: skip
            self.assertIn(f'smp.name = "{name}", smp.role = "{role}"', text)
        for option, message in (
            ("--loss-output=cost", "--loss-output to name one of 'output_0'"),
            ("--labels=cost", "--labels to name inputs out of 'x'"),
            ("--data-convention=cost", "--data-convention=hf, next-token or none"),
        ):
            finished = run("smp-import", archive, option)
            self.assertEqual(finished.code, 1)
            self.assertIn(message, finished.errors)

    def test_fixed_batch(self) -> None:
        model, inputs = seeded(Plain), Plain.inputs(4)
        archive = self.save(model, inputs, dynamic=False)
        self.check_values(model, inputs, archive)
        self.assertIn("smp.fixed_batch = 4", self.header(archive))
        job = self.path("job")
        wrong = run("smp-compile", archive, "-o", job, "--batch-size=6")
        self.assertEqual(wrong.code, 1)
        self.assertIn("expects rows of 4, as the export fixes the batch, got 6", wrong.errors)
        self.run_well("smp-compile", archive, "-o", job, "--batch-size=8", "--microbatches=2")


class Training(PlainArchives):
    """From a plain archive to the parameters of PyTorch's own training."""

    STEPS = 5

    def trained(self, model, inputs: dict, rows: int) -> tuple[list, dict]:
        model = copy.deepcopy(model)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for step in range(self.STEPS):
            batch = {k: v[step * rows : (step + 1) * rows] for k, v in inputs.items()}
            optimizer.zero_grad()
            loss = model(**batch)["loss"]
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses, dict(model.named_parameters())

    def check(self, kind, decomposed: bool) -> None:
        rows = 4
        model = seeded(kind)
        archive = self.save(model, kind.inputs(), decomposed)
        job, data = self.path("job"), self.path("data.safetensors")
        self.run_well(
            "smp-compile", archive, "-o", job, f"--batch-size={rows}",
            "--microbatches=2", "--labels=target", "--optimizer.name=sgd",
            "--optimizer.lr=0.1", "--optimizer.momentum=0", "--optimizer.weight_decay=0",
            "--pipeline-parallel-degree=2",
        )  # fmt: skip
        _, weights = self.import_archive(archive)
        inputs = kind.inputs(rows * self.STEPS)
        save_file(contiguous(inputs), data)
        got = self.train(
            job, data, self.STEPS, f"--init={weights}", "--transport=threads",
            "--data-order=file",
        )  # fmt: skip
        losses, parameters = self.trained(model, inputs, rows)
        self.assertLosses(got.losses, losses, 1e-5)
        for name in ("first.bias", "second.bias"):
            value = torch.frombuffer(bytearray(got.parameters[name].data), dtype=torch.float32)
            expected = parameters[name].detach()
            self.assertClose(value.view(expected.shape), expected, 1e-5, name)

    def test_from_a_raw_archive(self) -> None:
        for kind in (InPlace, SliceAssignment):
            self.check(kind, decomposed=False)

    def test_from_a_decomposed_archive(self) -> None:
        self.check(Storages, decomposed=True)

    def test_without_weights_a_job_does_not_start(self) -> None:
        archive = self.save(seeded(Plain), Plain.inputs())
        job = self.path("job")
        self.run_well("smp-compile", archive, "-o", job)
        finished = run("smp-run", job, "--init=random", "--transport=threads")
        self.assertNotEqual(finished.code, 0)


if __name__ == "__main__":
    main()
