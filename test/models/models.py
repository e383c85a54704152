# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models that the tests use: one entry of `MODELS` each.

An entry says how to build the model and its inputs of any batch. Archives and
reference data are made from this list by make_reference.py, and the tests in
C++ find them by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from byte_gpt import ByteGPT
from torch import nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Model:
    name: str
    build: Callable[[], nn.Module]
    # (batch, generator) -> the named inputs of one step.
    inputs: Callable[[int, torch.Generator], dict]
    loss: Callable | None = None
    # Whether the training graph draws random numbers, which PyTorch draws
    # otherwise: then only the eval graph has reference data.
    random: bool = False
    # Whether outputs, gradients and parameters are too large to be committed:
    # then the reference data has losses only.
    losses_only: bool = False


def _tokens(vocabulary: int, length: int, shifted: bool, name: str = "input_ids"):
    """Consecutive windows of a stream of random tokens; the labels are the
    tokens themselves for a model that shifts them, else the ones that follow.
    Small tokens are frequent, so that there is something to learn."""

    def inputs(batch: int, generator: torch.Generator) -> dict:
        count = batch * length
        uniform = torch.rand(count + 1, generator=generator, dtype=torch.float64)
        stream = (vocabulary * uniform**3).long()
        tokens = stream[:count].reshape(batch, length)
        labels = tokens if shifted else stream[1:].reshape(batch, length)
        return {name: tokens.clone(), "labels": labels.clone()}

    return inputs


def gpt2_of(dropout=0.0, layers=2, width=32, heads=2, vocabulary=112, length=16):
    # Imported here: transformers takes seconds, and plain models need none.
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        n_layer=layers,
        n_embd=width,
        n_head=heads,
        vocab_size=vocabulary,
        n_positions=length,
        resid_pdrop=dropout,
        embd_pdrop=dropout,
        attn_pdrop=dropout,
        bos_token_id=0,
        eos_token_id=0,
        loss_type="ForCausalLM",
        use_cache=False,
    )
    return GPT2LMHeadModel(config)


def _llama():
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=96,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=32,
        bos_token_id=0,
        eos_token_id=0,
        use_cache=False,
    )
    return LlamaForCausalLM(config)


def _mlp():
    return nn.Sequential(
        nn.Linear(12, 32),
        nn.GELU(),
        nn.Linear(32, 32),
        nn.ReLU(),
        nn.LayerNorm(32),
        nn.Linear(32, 24),
        nn.Tanh(),
        nn.Linear(24, 5),
    )


def _mlp_inputs(batch: int, generator: torch.Generator) -> dict:
    return {
        "input": torch.randn((batch, 12), generator=generator),
        "labels": torch.randn((batch, 5), generator=generator),
    }


MODELS = [
    Model("gpt2", gpt2_of, _tokens(112, 12, shifted=True)),
    Model(
        "gpt2-dropout",
        lambda: gpt2_of(dropout=0.1),
        _tokens(112, 12, shifted=True),
        random=True,
    ),
    Model("llama", _llama, _tokens(96, 12, shifted=True)),
    Model("mlp", _mlp, _mlp_inputs, loss=F.mse_loss),
    Model(
        "byte-gpt",
        ByteGPT,
        _tokens(256, 64, shifted=False, name="tokens"),
        losses_only=True,
    ),
]


def model_named(name: str) -> Model:
    return next(model for model in MODELS if model.name == name)
