# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes archives of models of their real size, without weights.

  make_large.py DIR    writes DIR/<model>.pt2 for each that is not there

gpt2-124m, gpt2-48-layers (the same, deeper), gpt2-1.5b, llama-7b of 32,768
tokens.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "python")]

import torch  # noqa: E402
from models import gpt2_of  # noqa: E402

from smp import empty_parameters, export, record_initialisation  # noqa: E402


def gpt2(layers: int, width: int, heads: int):
    return gpt2_of(
        layers=layers, width=width, heads=heads, vocabulary=50257, length=1024
    )


def llama():
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=32000,
        hidden_size=4096,
        intermediate_size=11008,
        num_hidden_layers=32,
        num_attention_heads=32,
        num_key_value_heads=32,
        max_position_embeddings=32768,
        use_cache=False,
    )
    return LlamaForCausalLM(config)


# How to build it, rows of the example, tokens of a row.
LARGE = {
    "gpt2-124m": (lambda: gpt2(12, 768, 12), 4, 256),
    "gpt2-48-layers": (lambda: gpt2(48, 768, 12), 4, 256),
    "gpt2-1.5b": (lambda: gpt2(48, 1600, 25), 2, 1024),
    "llama-7b": (llama, 2, 32768),
}


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, (build, rows, length) in LARGE.items():
        path = folder / f"{name}.pt2"
        if path.exists():
            continue
        start = time.monotonic()
        with record_initialisation(), empty_parameters():
            module = build()
        tokens = torch.zeros((rows, length), dtype=torch.int64)
        export(module, {"input_ids": tokens, "labels": tokens}, path, weights=False)
        count = sum(p.numel() for p in module.parameters())
        size, seconds = os.path.getsize(path), time.monotonic() - start
        print(f"{name}: {count} parameters, {size} bytes, {seconds:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
