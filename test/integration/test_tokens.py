# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A file of tokens is read as the model wants its labels, whatever those are
called: the losses are those of PyTorch on the same windows."""

from __future__ import annotations

import sys
from pathlib import Path

from harness import MODELS, IntegrationTest, main, run

sys.path[:0] = [str(MODELS), str(MODELS.parent.parent / "python")]

import torch  # noqa: E402
from plain import NextToken  # noqa: E402
from safetensors.torch import save_file  # noqa: E402
from torch import nn  # noqa: E402

import smp  # noqa: E402


class Renamed(nn.Module):
    """The same model, whose inputs have other names."""

    def __init__(self, shift: bool):
        super().__init__()
        self.model = NextToken(shift)

    def forward(self, idx, targets):
        return self.model(idx, targets)


class Tokens(IntegrationTest):
    LENGTH, ROWS, STEPS = 5, 4, 6

    def tokens(self) -> tuple[Path, torch.Tensor]:
        generator = torch.Generator().manual_seed(3)
        size = self.LENGTH * self.ROWS * self.STEPS + 1
        tokens = torch.randint(16, (size,), generator=generator)
        path = self.path("tokens.u8")
        path.write_bytes(bytes(tokens.tolist()))
        return path, tokens

    def expected(self, model: nn.Module, tokens: torch.Tensor, shift: bool) -> list:
        """Of windows that do not overlap, with labels as the model wants them."""
        inputs = tokens[:-1].view(self.STEPS, self.ROWS, self.LENGTH)
        following = tokens[1:].view(self.STEPS, self.ROWS, self.LENGTH)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        losses = []
        for x, y in zip(inputs, inputs if shift else following):
            loss = model(x, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def losses(self, model: nn.Module, names: tuple, data: Path) -> list:
        archive, job, start = map(self.path, ("model.pt2", "job", "start.safetensors"))
        save_file({k: v.contiguous() for k, v in model.state_dict().items()}, start)
        example = torch.zeros((2, self.LENGTH), dtype=torch.int64)
        smp.export(model, dict.fromkeys(names, example), archive, init={".*": "none"})
        finished = run(
            "smp-compile", archive, "-o", job, f"--batch-size={self.ROWS}",
            "--microbatches=2", "--pipeline-parallel-degree=2", "--optimizer.name=sgd",
            "--optimizer.lr=0.5", "--optimizer.momentum=0", "--optimizer.weight_decay=0",
        )  # fmt: skip
        self.assertEqual(finished.code, 0, finished.errors)
        return self.train(
            job, data, self.STEPS, f"--init={start}", "--transport=threads",
            "--data-order=file",
        ).losses  # fmt: skip

    def test_names_of_labels(self) -> None:
        data, tokens = self.tokens()
        kinds = [(NextToken, ("tokens", "labels")), (Renamed, ("idx", "targets"))]
        for kind, names in kinds:
            for shift in (False, True):
                with self.subTest(names=names, shift=shift):
                    torch.manual_seed(7)
                    model = kind(shift)
                    got = self.losses(model, names, data)
                    expected = self.expected(model, tokens, shift)
                    self.assertLosses(got, expected, 1e-5)


if __name__ == "__main__":
    main()
