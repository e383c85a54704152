# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs, description and archive of small models of our own."""

import json
import os
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

import smp
import torch
from lifted import LiftedGraph
from smp import ExportError
from smp.exporter import build
from torch import nn
from torch.nn import functional as F


class Regions(nn.Module):
    """One factor without gradient, one input without batch."""

    def __init__(self):
        super().__init__()
        self.used = nn.Linear(4, 4)
        self.fixed = nn.Linear(4, 4)
        self.frozen = nn.Parameter(torch.ones(4), requires_grad=False)

    def forward(self, x, scale):
        with torch.no_grad():
            factor = self.fixed(x).tanh()
        y = self.used(x) * factor * scale * self.frozen
        return {"loss": y.square().mean(), "y": y}


class Tied(nn.Module):
    def __init__(self, shift=False):
        super().__init__()
        self.embedding = nn.Embedding(16, 8)
        self.head = nn.Linear(8, 16, bias=False)
        self.head.weight = self.embedding.weight
        self.shift = shift

    def forward(self, tokens, labels):
        logits = self.head(self.embedding(tokens))
        if self.shift:
            logits, labels = logits[:, :-1], labels[:, 1:]
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten()), logits


def recorded(make):
    with smp.record_initialisation():
        return make()


def tokens():
    value = torch.arange(12).reshape(2, 6)
    return {"tokens": value, "labels": value}


def entries(path):
    with zipfile.ZipFile(path) as file:
        return {n.partition("/")[2]: file.read(n) for n in file.namelist()}


class Graphs(unittest.TestCase):
    def test_no_gradient_out_of_a_no_grad_region(self):
        model = recorded(Regions)
        inputs = {"x": torch.randn(3, 4), "scale": torch.rand(4)}
        exported = build(model, inputs)
        graph = LiftedGraph(exported.programs["model"], dict(model.named_parameters()))
        listed = exported.description["outputs"]["model"]
        values = graph(inputs)
        values[listed[0]["value"]].backward()
        model.double()(
            {k: v.double() for k, v in inputs.items()}["x"], inputs["scale"].double()
        )["loss"].backward()
        self.assertIsNone(model.fixed.weight.grad)
        self.assertIsNone(graph.parameters["fixed.weight"].grad)
        torch.testing.assert_close(
            graph.parameters["used.weight"].grad, model.used.weight.grad
        )

    def test_any_batch(self):
        model = recorded(lambda: Tied())
        program = build(model, tokens()).programs["eval"].module()
        for batch in (1, 2, 5):
            value = torch.zeros((batch, 6), dtype=torch.int64)
            self.assertEqual(program(tokens=value, labels=value)[1].shape[0], batch)

    def test_the_same_object_twice_is_two_inputs(self):
        exported = build(recorded(lambda: Tied()), tokens())
        names = [i["name"] for i in exported.description["inputs"]]
        graph = exported.programs["model"].graph
        users = {n.name: len(n.users) for n in graph.nodes}
        self.assertTrue(all(users[name] for name in names), users)

    def test_modes_are_restored(self):
        model = recorded(lambda: nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)))
        model[1].eval()
        inputs = (torch.randn(2, 4),)
        exported = build(model, {"input": inputs[0], "labels": inputs[0]}, F.mse_loss)
        self.assertTrue(model.training and not model[1].training)
        targets = {
            name: [str(n.target) for n in program.graph.nodes]
            for name, program in exported.programs.items()
        }
        self.assertTrue(any("dropout" in t for t in targets["model"]))
        self.assertFalse(any("dropout" in t for t in targets["eval"]))


class Description(unittest.TestCase):
    def test_inputs_and_parameters(self):
        inputs = {"x": torch.randn(3, 4), "scale": torch.rand(4)}
        found = build(recorded(Regions), inputs).description
        self.assertEqual(
            [(i["user_name"], i["shape"], i["batch_dim"]) for i in found["inputs"]],
            [("x", [None, 4], 0), ("scale", [4], None)],
        )
        grad = {p["name"]: p["requires_grad"] for p in found["parameters"]}
        self.assertFalse(grad["frozen"])
        self.assertTrue(grad["used.bias"])
        self.assertIsNone(found["convention"])
        self.assertEqual(found["loss"], {"model": "loss", "eval": "loss"})

    def test_tied_parameters_are_one_group(self):
        exported = build(recorded(Tied), tokens())
        (group,) = exported.description["aliases"]
        self.assertEqual(sorted(group), ["embedding.weight", "head.weight"])
        program = exported.programs["model"]
        by_target = {s.target: s.arg.name for s in program.graph_signature.input_specs}
        users = {n.name: len(n.users) for n in program.graph.nodes}
        self.assertGreater(users[by_target[group[0]]], 0)
        self.assertEqual(users[by_target[group[1]]], 0)
        names = [p["name"] for p in exported.description["parameters"]]
        self.assertEqual(names, [group[0]])

    def test_convention(self):
        for shift, name, shifted in ((True, "hf", True), (False, "next-token", False)):
            found = build(recorded(lambda: Tied(shift)), tokens()).description
            self.assertEqual(found["convention"], name)
            self.assertEqual(found["labels_shifted"], shifted)
        found = build(recorded(Tied), tokens(), convention="none").description
        self.assertIsNone(found["convention"])

    def test_two_sequences_have_no_convention(self):
        class Encoded(Tied):
            def forward(self, tokens, labels, other):
                loss, logits = super().forward(tokens, labels)
                return loss + self.embedding(other).mean(), logits

        inputs = tokens() | {"other": torch.zeros((2, 4), dtype=torch.int64)}
        found = build(recorded(Encoded), inputs).description
        self.assertIsNone(found["convention"])

    def test_loss_around_a_model(self):
        model = recorded(lambda: nn.Linear(4, 3))
        exported = build(model, (torch.randn(2, 4), torch.randn(2, 3)), F.mse_loss)
        found = exported.description
        self.assertEqual(
            [(i["user_name"], i["role"]) for i in found["inputs"]],
            [("input", "input"), ("labels", "label")],
        )
        self.assertEqual(
            [(o["name"], o["role"]) for o in found["outputs"]["eval"]],
            [("loss", "loss"), ("output", "output")],
        )
        self.assertEqual([p["name"] for p in found["parameters"]], ["weight", "bias"])

    def test_buffers(self):
        model = recorded(lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)))
        inputs = (torch.randn(2, 3, 5, 5), torch.randn(2, 4, 3, 3))
        found = {
            b["name"]: b
            for b in build(model, inputs, F.mse_loss).description["buffers"]
        }
        self.assertTrue(found["1.running_mean"]["mutated"])
        self.assertEqual(found["1.running_var"]["initialiser"]["value"], 1.0)


class Archive(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "model.pt2"

    def write(self, **options):
        smp.export(recorded(Tied), tokens(), self.path, **options)
        return entries(self.path)

    def test_weights_once(self):
        found = self.write()
        weights = [n for n in found if n.startswith("data/weights/weight_")]
        self.assertEqual(len(weights), 1)
        self.assertEqual(len(found[weights[0]]), 16 * 8 * 4)
        self.assertEqual(
            found["data/weights/model_weights_config.json"],
            found["data/weights/eval_weights_config.json"],
        )
        self.assertTrue(json.loads(found["extra/smp.json"])["weights"])

    def test_no_weights(self):
        found = self.write(weights=False)
        sizes = [
            len(v) for n, v in found.items() if n.startswith("data/weights/weight_")
        ]
        self.assertEqual(sum(sizes), 0)
        self.assertFalse(json.loads(found["extra/smp.json"])["weights"])

    def test_pytorch_reads_it(self):
        model = recorded(Tied)
        smp.export(model, tokens(), self.path)
        program = torch.export.pt2_archive._package.load_pt2(str(self.path))
        for name in ("model", "eval"):
            loss, _ = program.exported_programs[name].module()(**tokens())
            torch.testing.assert_close(loss, model(**tokens())[0])

    def test_same_bytes_again(self):
        exported = []
        for _ in range(2):
            torch.manual_seed(1)
            self.write()
            exported.append(self.path.read_bytes())
        self.assertEqual(*exported)

    def test_no_path_of_this_machine(self):
        machine = {
            os.getcwd(),
            str(Path.home()),
            sys.prefix,
            str(Path(__file__).parent),
        }
        for name, content in self.write().items():
            for path in machine - {"/"}:
                self.assertNotIn(path.encode(), content, name)
        graph = json.loads(entries(self.path)["models/model.json"])
        traces = [
            node["metadata"].get("stack_trace", "")
            for node in graph["graph_module"]["graph"]["nodes"]
        ]
        self.assertTrue(any('test_export.py", line' in trace for trace in traces))

    def test_without_storage(self):
        with smp.record_initialisation(), smp.empty_parameters():
            model = Tied()
        smp.export(model, tokens(), self.path, weights=False)
        self.assertNotIn(b'"meta"', entries(self.path)["models/model.json"])


if __name__ == "__main__":
    unittest.main()
