"""Whether a graph computes what torch computes."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from export.architecture import Architecture
from export.errors import ParityError
from export.reference import Reference
from export.session import open_session

BATCHES: Final = (1, 2, 7)
LENGTHS: Final = (3, 17)  # tokens; the network's maximum is the third
_SEED: Final = 20261130


def check_parity(model: Path, loaded: Path, architecture: Architecture, tolerance: float) -> float:
    """Compare on random ids, batches of 1, 2 and 7, short to the longest, padded on the right.

    Args:
        model: a graph with the inputs of network.INPUTS.
        loaded: the checkpoint's folder.
        architecture: of the checkpoint.
        tolerance: the largest difference of a logit that passes.

    Returns:
        The largest difference seen.

    Raises:
        ParityError: all combinations that differ by more.
    """
    reference = Reference(loaded, architecture)
    session = open_session(model)
    rng = np.random.default_rng(_SEED)
    failures: list[str] = []
    largest = 0.0
    for batch in BATCHES:
        for length in (*LENGTHS, architecture.max_positions):
            shape = (batch, length)
            ids = rng.integers(0, architecture.vocab_size, shape)
            types = rng.integers(0, architecture.type_vocab_size, shape)
            lengths = rng.integers(1, length + 1, batch)
            lengths[0] = length
            seen = (np.arange(length) < lengths[:, None]).astype(np.int64)
            positions = np.array([row * length + rng.integers(lengths[row]) for row in range(batch)])
            feeds = {"input_ids": ids, "attention_mask": seen, "token_type_ids": types, "mask_positions": positions}
            [logits] = session.run(None, feeds)
            expected = reference.all_logits(ids, seen, types).reshape(batch * length, -1)[positions]
            difference = float(np.abs(logits - expected).max())
            largest = max(largest, difference)
            if not difference <= tolerance:  # also true for NaN
                failures.append(f"batch {batch} of {length} tokens differs from torch by {difference:.2g}")
    if failures:
        raise ParityError(failures)
    return largest
