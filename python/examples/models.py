# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One function for each kind of model, for `python -m smp.export`.

Each returns a model and example inputs of two rows; their other sizes are those
of the data that `examples.data` makes. Texts are bytes: 256 tokens.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F
from transformers import (
    BertConfig,
    BertForMaskedLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    ResNetConfig,
    ResNetForImageClassification,
    T5Config,
    T5ForConditionalGeneration,
)

from .data import MASK, QUESTION, WINDOW


def _tokens(length: int) -> torch.Tensor:
    return torch.zeros((2, length), dtype=torch.int64)


def gpt2():
    config = GPT2Config(
        vocab_size=256,
        n_positions=WINDOW,
        n_embd=96,
        n_layer=4,
        n_head=4,
        bos_token_id=0,
        eos_token_id=0,
        loss_type="ForCausalLM",
    )
    tokens = _tokens(WINDOW)
    return GPT2LMHeadModel(config), {"input_ids": tokens, "labels": tokens}


def llama():
    config = LlamaConfig(
        vocab_size=256,
        hidden_size=96,
        intermediate_size=256,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=WINDOW,
    )
    tokens = _tokens(WINDOW)
    return LlamaForCausalLM(config), {"input_ids": tokens, "labels": tokens}


def bert():
    config = BertConfig(
        vocab_size=MASK + 1,
        hidden_size=96,
        num_hidden_layers=4,
        num_attention_heads=4,
        intermediate_size=256,
        max_position_embeddings=WINDOW,
    )
    tokens = _tokens(WINDOW)
    return BertForMaskedLM(config), {"input_ids": tokens, "labels": tokens}


def t5():
    config = T5Config(
        vocab_size=32,
        d_model=64,
        d_kv=16,
        d_ff=128,
        num_layers=2,
        num_heads=4,
        decoder_start_token_id=0,
    )
    inputs = {"input_ids": _tokens(QUESTION), "labels": _tokens(QUESTION // 2)}
    return T5ForConditionalGeneration(config), inputs


def resnet():
    config = ResNetConfig(
        embedding_size=16,
        hidden_sizes=[16, 32],
        depths=[1, 1],
        layer_type="basic",
        num_labels=4,
    )
    inputs = {"pixel_values": torch.zeros((2, 3, 24, 24)), "labels": _tokens(1)[:, 0]}
    return ResNetForImageClassification(config), inputs


def mlp():
    model = nn.Sequential(
        nn.Linear(2, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 2)
    )
    return model, (torch.zeros((2, 2)), _tokens(1)[:, 0]), F.cross_entropy
