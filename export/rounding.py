"""Matrices as integers: one scale for each output or for every few inputs, and what makes rows easier to round."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from handler.core.types import FloatArray

ByteArray = npt.NDArray[np.uint8]

MIDDLE: Final = 128  # what stands for 0 among unsigned bytes
SMALLEST_SCALE: Final = 1e-12  # for a row or column of zeros: anything but 0, which would divide by it

# How much of the difficulty moves from the activations to the matrix: SmoothQuant's alpha. Scales by row do not mind
# whether it is 0.5 or 0.7; one scale in a run wants more (measured on tiankong-v2, export/README.md).
_SMOOTHING: Final = 0.7


def quantize_columns(matrix: FloatArray, *, pairs: bool) -> tuple[npt.NDArray[np.int8], FloatArray]:
    """Round a matrix to integers with one scale for each column.

    Args:
        matrix: (inputs, outputs).
        pairs: whether to keep |a| + |b| <= 128 for inputs 2i and 2i + 1, so that 255 * (|a| + |b|) fits into 16 bits.

    Returns:
        The integers (inputs, outputs), and the scales (outputs,): matrix is close to integers * scales.
    """
    magnitudes = np.abs(matrix)
    largest = magnitudes.max(axis=0)
    if pairs:
        even = magnitudes[: len(matrix) // 2 * 2]
        largest = np.maximum(largest, (even[0::2] + even[1::2]).max(axis=0))
    scales = np.maximum(largest / 127, SMALLEST_SCALE).astype(np.float32)  # rounding may add one half to each of two
    return np.clip(np.rint(matrix / scales), -127, 127).astype(np.int8), scales


def quantize_blocks(rows: FloatArray, block: int) -> tuple[ByteArray, FloatArray]:
    """Round the rows of a matrix to bytes around 128 with one scale for every ``block`` neighbours.

    Args:
        rows: (outputs, inputs); the last block is filled with zeros where the inputs do not fill it.
        block: how many neighbours share a scale.

    Returns:
        The bytes (outputs, blocks, block), and the scales (outputs, blocks).
    """
    outputs, inputs = rows.shape
    blocks = -(-inputs // block)
    padded = np.zeros((outputs, blocks * block), np.float32)
    padded[:, :inputs] = rows
    split = padded.reshape(outputs, blocks, block)
    scales = np.maximum(np.abs(split).max(axis=-1) / 127, SMALLEST_SCALE).astype(np.float32)
    integers = np.clip(np.rint(split / scales[..., None]), -127, 127).astype(np.int16) + MIDDLE
    return integers.astype(np.uint8), scales


def smoothing_factors(spread: FloatArray, matrix: FloatArray) -> FloatArray:
    """By how much to shrink each unit before a product, and grow its row of the matrix.

    Units with a large spread are made smaller before the rounding, as in SmoothQuant (Xiao et al. 2022, equation 4,
    with spreads in place of maxima).

    Args:
        spread: root mean square of each unit (units,).
        matrix: (units, outputs).

    Returns:
        Positive factors (units,), whose geometric mean is 1.
    """
    spread = np.maximum(spread, 1e-5)
    weight = np.maximum(np.abs(matrix).max(axis=1), 1e-5)
    factors = spread**_SMOOTHING / weight ** (1 - _SMOOTHING)
    return np.asarray(factors / np.exp(np.log(factors).mean()), np.float32)
