# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs some files once for each model of models/data; `%{model}` is its path
without extension:

  each-eval-*      all, since all have outputs of the eval graph of PyTorch
  each-train-*     models with outputs of the training graph: no dropout
  each-grad-*      models with gradients
  each-trained-*   models with parameters after training, and no more
  each-stateful-*  models whose training changes buffers, too: the statistics of
                   a microbatch, so that its rows are part of the reference
"""

import copy
import json
import os
import struct

import lit.formats
import lit.Test


# What the reference data of a model must have, by the names of the files.
NEEDS = {
    "each-eval-": "b2/f64/eval/",
    "each-train-": "b2/f64/train/",
    "each-grad-": "b2/grad/",
    "each-trained-": "sgd/params/",
    "each-stateful-": "sgd/states/",
}
# What it must not have.
LACKS = {"each-trained-": "sgd/states/"}


def names_in(path: str) -> list:
    """The tensors of a safetensors file."""
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        return list(json.loads(file.read(size)))


def models(folder: str) -> dict:
    """The paths of the models by the kind of file that runs on them."""
    found = {kind: [] for kind in NEEDS}
    for name in sorted(os.listdir(folder)):
        stem, extension = os.path.splitext(os.path.join(folder, name))
        if extension != ".safetensors":
            continue
        names = names_in(stem + extension)
        for kind, need in NEEDS.items():
            lack = LACKS.get(kind)
            if any(name.startswith(need) for name in names) and not (
                lack and any(name.startswith(lack) for name in names)
            ):
                found[kind].append(stem)
    return found


class ModelTest(lit.Test.Test):
    """A file and a model; its name and its temporary files are its own."""

    def __init__(self, suite, path_in_suite, config, model):
        config = copy.copy(config)
        config.substitutions = [*config.substitutions, ("%{model}", model)]
        super().__init__(suite, path_in_suite, config)
        self.model = os.path.basename(model)

    def getFullName(self):
        return f"{super().getFullName()} ({self.model})"

    def getExecPath(self):
        return f"{super().getExecPath()}.{self.model}"


class Format(lit.formats.ShTest):
    def __init__(self, folder):
        super().__init__(execute_external=False)
        self.models = models(folder)

    def getTestsForPath(self, testSuite, path_in_suite, litConfig, localConfig):
        for test in super().getTestsForPath(
            testSuite, path_in_suite, litConfig, localConfig
        ):
            kinds = [k for k in NEEDS if path_in_suite[-1].startswith(k)]
            if not kinds:
                yield test
            for model in self.models[kinds[0]] if kinds else []:
                yield ModelTest(testSuite, path_in_suite, localConfig, model)
