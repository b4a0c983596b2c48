"""Operators that are one function of NumPy's, or nearly so."""

import numpy as np

from ..table import NUMPY as library

library("relu")(lambda a, x: np.maximum(x, 0))
library("abs")(lambda a, x: np.abs(x))
library("negative")(lambda a, x: np.negative(x))
library("elemwise_add")(lambda a, x, y: np.add(x, y))
library("elemwise_sub")(lambda a, x, y: np.subtract(x, y))
library("broadcast_add")(lambda a, x, y: np.add(x, y))
library("broadcast_sub")(lambda a, x, y: np.subtract(x, y))
library("broadcast_mul")(lambda a, x, y: np.multiply(x, y))
library("broadcast_max")(lambda a, x, y: np.maximum(x, y))
library("broadcast_greater")(lambda a, x, y: np.greater(x, y).astype(np.int64))
library("clip")(lambda a, x: np.clip(x, a.a_min, a.a_max))
library("flatten")(lambda a, x: np.reshape(x, (x.shape[0], -1)))
library("repeat")(lambda a, x: np.repeat(x, a.repeats, axis=a.axis))
library("tile")(lambda a, x: np.tile(x, a.reps))
library("concatenate")(lambda a, *inputs: np.concatenate(inputs, axis=a.axis))
library("transpose")(lambda a, x: np.transpose(x, a.axes or None))
library("take")(lambda a, x, indices: np.take(x, indices, axis=a.axis, mode="clip"))
library("cvm_lut")(lambda a, data, table: np.take(table, data, mode="clip"))
library("upsampling")(lambda a, x: np.kron(x, np.ones((a.scale, a.scale), dtype=np.int64)))
library("dense")(lambda a, x, w, bias=0: np.add(np.matmul(x, w.T), bias))
