"""Operators that are one function of PyTorch's, or nearly so."""

import torch
from torch.nn import functional

from ..table import PYTORCH as library

library("relu")(lambda a, x: functional.relu(x))
library("abs")(lambda a, x: torch.abs(x))
library("negative")(lambda a, x: torch.neg(x))
library("elemwise_add")(lambda a, x, y: torch.add(x, y))
library("elemwise_sub")(lambda a, x, y: torch.sub(x, y))
library("broadcast_add")(lambda a, x, y: torch.add(x, y))
library("broadcast_sub")(lambda a, x, y: torch.sub(x, y))
library("broadcast_mul")(lambda a, x, y: torch.mul(x, y))
library("broadcast_max")(lambda a, x, y: torch.maximum(x, y))
library("broadcast_greater")(lambda a, x, y: torch.gt(x, y).long())
library("clip")(lambda a, x: torch.clamp(x, a.a_min, a.a_max))
library("repeat")(lambda a, x: torch.repeat_interleave(x, a.repeats, dim=a.axis))
library("tile")(lambda a, x: torch.tile(x, a.reps))
library("concatenate")(lambda a, *inputs: torch.cat(inputs, dim=a.axis))
library("transpose")(lambda a, x: torch.permute(x, a.axes or tuple(range(x.ndim))[::-1]))
library("cvm_lut")(lambda a, data, table: torch.take(table, data.clamp(0, table.numel() - 1)))
library("dense")(lambda a, x, w, bias=None: functional.linear(x, w, bias))
library("conv2d")(lambda a, x, w, bias=None: functional.conv2d(
    x, w, bias, a.strides, a.padding, a.dilation, a.groups))
# There has to be a second axis to begin with.
library("flatten")(lambda a, x: torch.flatten(torch.unsqueeze(x, -1), start_dim=1))
# Its own upsampling finds sources by a floating-point scale; repeating needs none.
library("upsampling")(lambda a, x: x.repeat_interleave(a.scale, 2).repeat_interleave(a.scale, 3))
