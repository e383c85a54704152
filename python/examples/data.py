# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m examples.data`: makes data for the models of `examples.models`."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file

WINDOW = 64  # tokens of a text
MASK = 256  # the token that hides another
QUESTION = 16  # tokens of a sequence to answer


def masked_text(text: bytes, rows: int) -> dict:
    """Windows of a text, of which one byte in seven is to be guessed."""
    if len(text) < WINDOW:
        sys.exit(f"error: expects a text of at least {WINDOW} bytes, got {len(text)}")
    stream = torch.frombuffer(bytearray(text), dtype=torch.uint8).long()
    starts = torch.randint(0, len(text) - WINDOW + 1, (rows, 1))
    tokens = stream[starts + torch.arange(WINDOW)]
    hidden = torch.rand(tokens.shape) < 0.15
    return {
        "input_ids": tokens.masked_fill(hidden, MASK),
        "labels": tokens.masked_fill(~hidden, -100),
    }


def questions(_: bytes, rows: int) -> dict:
    """Sequences, and what is asked for: every other token of each."""
    tokens = torch.randint(1, 32, (rows, QUESTION))
    return {"input_ids": tokens, "labels": tokens[:, ::2].contiguous()}


def images(_: bytes, rows: int) -> dict:
    """Discs and squares, full or hollow, anywhere in a noisy image."""
    labels = torch.randint(0, 4, (rows,))
    y, x = torch.meshgrid(torch.arange(24.0), torch.arange(24.0), indexing="ij")
    center = torch.rand(2, rows, 1, 1) * 8 + 8
    dy, dx = (y - center[0]).abs(), (x - center[1]).abs()
    square = (labels % 2 == 1).view(-1, 1, 1)
    distance = torch.where(square, torch.maximum(dy, dx), (dy**2 + dx**2).sqrt())
    hollow = (labels >= 2).view(-1, 1, 1)
    shape = (distance < 7) & ~(hollow & (distance < 4.5))
    color = torch.rand(rows, 3, 1, 1) + 0.5
    pixels = color * shape.unsqueeze(1) + 0.2 * torch.randn(rows, 3, 24, 24)
    return {"pixel_values": pixels, "labels": labels}


def spirals(_: bytes, rows: int) -> dict:
    """Points of two spirals that wind around each other."""
    labels = torch.randint(0, 2, (rows,))
    radius = torch.rand(rows)
    angle = radius * 3 * math.pi + labels * math.pi
    points = torch.stack([radius * angle.cos(), radius * angle.sin()], 1)
    return {"input": points + 0.01 * torch.randn(rows, 2), "labels": labels}


KINDS = {
    "masked-text": masked_text,
    "questions": questions,
    "images": images,
    "spirals": spirals,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m examples.data",
        description="Makes a safetensors file of rows for a model to learn.",
    )
    parser.add_argument("kind", choices=KINDS, help="what the rows are")
    parser.add_argument("-o", "--output", required=True, metavar="FILE")
    parser.add_argument("--rows", type=int, default=2000, help="(default: 2000)")
    parser.add_argument("--seed", type=int, default=0, help="(default: 0)")
    parser.add_argument("--text", metavar="FILE", help="of masked-text: any file")
    options = parser.parse_args()
    if (options.kind == "masked-text") != bool(options.text):
        parser.error(f"'{options.kind}' expects {'a' if not options.text else 'no'} --text")
    if options.rows < 1:
        parser.error(f"--rows expects at least 1, got {options.rows}")
    torch.manual_seed(options.seed)
    text = Path(options.text).read_bytes() if options.text else b""
    save_file(KINDS[options.kind](text, options.rows), options.output)


if __name__ == "__main__":
    main()
