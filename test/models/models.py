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
from convnet import ConvNet
from torch import nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Model:
    name: str
    build: Callable[[], nn.Module]
    # (batch, generator) -> the named inputs of one step.
    inputs: Callable[[int, torch.Generator], dict]
    loss: Callable | None = None
    # How labels lie against tokens, where the export cannot tell.
    convention: str | None = None
    # Whether the training graph draws random numbers, which PyTorch draws
    # otherwise: then only the eval graph has reference data.
    random: bool = False
    # Whether outputs, gradients and parameters are too large to be committed:
    # then the reference data has losses only.
    losses_only: bool = False
    # Whether it is like another but for its inputs or masks: then it has
    # outputs and gradients, and is not trained.
    untrained: bool = False


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


def _llama(dropout=0.0):
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=96,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        attention_dropout=dropout,
        max_position_embeddings=32,
        bos_token_id=0,
        eos_token_id=0,
        use_cache=False,
    )
    return LlamaForCausalLM(config)


def _mistral():
    """Grouped queries, and a window of five tokens."""
    from transformers import MistralConfig, MistralForCausalLM

    config = MistralConfig(
        vocab_size=64,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=32,
        sliding_window=5,
        bos_token_id=0,
        eos_token_id=0,
        use_cache=False,
    )
    return MistralForCausalLM(config)


def _packed(batch: int, generator: torch.Generator) -> dict:
    """Windows of two or three sequences each, which their positions tell
    apart: they start again at 0."""
    inputs = _tokens(96, 12, shifted=True)(batch, generator)
    cuts = torch.randint(2, 10, (batch, 2), generator=generator).sort().values
    place = torch.arange(12).expand(batch, 12)
    starts = torch.zeros_like(place)
    for cut in cuts.unbind(1):
        starts = torch.where(place >= cut[:, None], cut[:, None], starts)
    return inputs | {"position_ids": place - starts}


def _bert(dropout=0.0):
    from transformers import BertConfig, BertForMaskedLM

    config = BertConfig(
        vocab_size=96,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=32,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        pad_token_id=None,
    )
    return BertForMaskedLM(config)


def _masked_tokens(batch: int, generator: torch.Generator) -> dict:
    """Windows as above, of which some places are the labels: there the model
    sees the last token of the vocabulary, elsewhere the label is ignored."""
    tokens = _tokens(95, 12, shifted=True)(batch, generator)["input_ids"]
    chosen = torch.rand(tokens.shape, generator=generator) < 0.3
    return {
        "input_ids": tokens.masked_fill(chosen, 95),
        "labels": tokens.masked_fill(~chosen, -100),
    }


def _padded_tokens(batch: int, generator: torch.Generator) -> dict:
    """Rows of different lengths, with a mask that says so."""
    inputs = _masked_tokens(batch, generator)
    lengths = torch.randint(5, 13, (batch, 1), generator=generator)
    seen = torch.arange(12) < lengths
    return {
        "input_ids": inputs["input_ids"].masked_fill(~seen, 0),
        "attention_mask": seen.long(),
        "labels": inputs["labels"].masked_fill(~seen, -100),
    }


def _t5(dropout=0.0):
    from transformers import T5Config, T5ForConditionalGeneration

    config = T5Config(
        vocab_size=64,
        d_model=16,
        d_kv=8,
        d_ff=24,
        num_layers=1,
        num_decoder_layers=2,
        num_heads=2,
        relative_attention_num_buckets=8,
        relative_attention_max_distance=16,
        dropout_rate=dropout,
        pad_token_id=0,
        decoder_start_token_id=0,
        use_cache=False,
    )
    return T5ForConditionalGeneration(config)


def _pairs(batch: int, generator: torch.Generator) -> dict:
    """A sequence, and a shorter one to answer with: every other token of it,
    some ignored at the end."""
    tokens = _tokens(64, 14, shifted=True)(batch, generator)["input_ids"]
    labels = tokens[:, ::2].clone()
    lengths = torch.randint(4, 8, (batch, 1), generator=generator)
    return {
        "input_ids": tokens,
        "labels": labels.masked_fill(torch.arange(7) >= lengths, -100),
    }


def _padded_pairs(batch: int, generator: torch.Generator) -> dict:
    """The sequence to read has an end that is not seen: a learned bias below a
    mask that depends on data, and cross-attention under the same."""
    inputs = _pairs(batch, generator)
    lengths = torch.randint(6, 15, (batch, 1), generator=generator)
    return inputs | {"attention_mask": (torch.arange(14) < lengths).long()}


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


def _with_statistics(model: nn.Module) -> nn.Module:
    """Running averages as after some training: those of a new model are zeros
    and ones, which hide mistakes of evaluation."""
    for module in model.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            place = torch.arange(module.num_features, dtype=torch.float32)
            module.running_mean.copy_(0.1 * torch.sin(place + 1))
            module.running_var.copy_(1 + 0.3 * torch.cos(place))
            module.num_batches_tracked.fill_(3)
    return model


def _resnet(layer_type: str):
    from transformers import ResNetConfig, ResNetForImageClassification

    config = ResNetConfig(
        num_channels=3,
        embedding_size=8,
        hidden_sizes=[8, 16],
        depths=[1, 1],
        layer_type=layer_type,
        num_labels=6,
    )
    return _with_statistics(ResNetForImageClassification(config))


def _images(channels: int, height: int, width: int, classes: int, name: str):
    def inputs(batch: int, generator: torch.Generator) -> dict:
        return {
            name: torch.randn((batch, channels, height, width), generator=generator),
            "labels": torch.randint(0, classes, (batch,), generator=generator),
        }

    return inputs


MODELS = [
    Model("gpt2", gpt2_of, _tokens(112, 12, shifted=True)),
    Model(
        "gpt2-dropout",
        lambda: gpt2_of(dropout=0.1),
        _tokens(112, 12, shifted=True),
        random=True,
    ),
    Model("llama", _llama, _tokens(96, 12, shifted=True)),
    Model(
        "llama-dropout",
        lambda: _llama(dropout=0.1),
        _tokens(96, 12, shifted=True),
        random=True,
    ),
    Model("llama-packed", _llama, _packed, untrained=True),
    Model("mistral", _mistral, _tokens(64, 12, shifted=True), untrained=True),
    Model("bert", _bert, _masked_tokens, convention="none"),
    Model("bert-padded", _bert, _padded_tokens, untrained=True),
    Model(
        "bert-dropout",
        lambda: _bert(dropout=0.1),
        _masked_tokens,
        convention="none",
        random=True,
    ),
    Model("t5", _t5, _pairs),
    Model("t5-padded", _t5, _padded_pairs, untrained=True),
    Model("t5-dropout", lambda: _t5(dropout=0.1), _pairs, random=True),
    Model("mlp", _mlp, _mlp_inputs, loss=F.mse_loss),
    Model("resnet", lambda: _resnet("basic"), _images(3, 20, 20, 6, "pixel_values")),
    Model(
        "resnet-bottleneck",
        lambda: _resnet("bottleneck"),
        _images(3, 16, 16, 6, "pixel_values"),
    ),
    Model(
        "convnet",
        lambda: _with_statistics(ConvNet()),
        _images(4, 9, 13, 5, "input"),
        loss=F.cross_entropy,
    ),
    Model(
        "byte-gpt",
        ByteGPT,
        _tokens(256, 64, shifted=False, name="tokens"),
        losses_only=True,
    ),
]


def model_named(name: str) -> Model:
    return next(model for model in MODELS if model.name == name)
