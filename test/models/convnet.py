# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A small network of convolutions."""

import torch
from torch import nn
from torch.nn import functional as F


class ConvNet(nn.Module):
    """Forms of convolution, pooling and batch norm that a ResNet lacks; one
    norm is called twice, and one has no parameters."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(4, 8, (3, 5), padding=(1, 2), stride=(1, 2))
        self.pool = nn.MaxPool2d(3, stride=2, padding=1, dilation=1, ceil_mode=True)
        self.depthwise = nn.Conv2d(8, 8, 3, padding=2, dilation=2, groups=8, bias=False)
        self.norm = nn.BatchNorm2d(8, momentum=0.3, eps=1e-3)
        self.grouped = nn.Conv2d(8, 12, (4, 3), padding="same", groups=4, bias=False)
        self.plain = nn.BatchNorm2d(12, affine=False)
        self.average = nn.AvgPool2d(2, padding=1, count_include_pad=False)
        self.adaptive = nn.AdaptiveAvgPool2d((2, 3))
        self.line = nn.BatchNorm1d(10)
        self.inner = nn.Linear(12 * 2 * 3, 10, bias=False)
        self.head = nn.Linear(10, 5)

    def forward(self, input):
        x = self.pool(F.relu(self.stem(input)))
        x = self.norm(self.depthwise(self.norm(x)))
        x = F.silu(self.plain(self.grouped(x)))
        x = self.adaptive(self.average(x)).flatten(1)
        return self.head(torch.tanh(self.line(self.inner(x))))
