"""Whether a graph computes what torch computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from export.architecture import Architecture
from export.errors import ParityError
from export.reference import IdArray, Reference
from export.session import open_session
from handler.core.types import FloatArray

BATCHES: Final = (1, 2, 7)
LENGTHS: Final = (3, 17)  # tokens; the network's maximum is the third
CASES_FILE: Final = "parity.npz"
_SEED: Final = 20261130
_FIELDS: Final = ("ids", "seen", "types", "positions", "expected")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParityCase:
    """One batch, and torch's logits at some of its positions."""

    ids: IdArray  # (batch, sequence)
    seen: IdArray  # (batch, sequence), the attention mask
    types: IdArray  # (batch, sequence)
    positions: IdArray  # (positions,), flat: row * sequence + column
    expected: FloatArray  # (positions, vocab)

    @property
    def single(self) -> bool:
        """Whether it is one text of one segment without padding, which is all that the served graph reads."""
        return len(self.ids) == 1 and bool(self.seen.all()) and not self.types.any()


def parity_cases(reference: Reference, architecture: Architecture) -> Sequence[ParityCase]:
    """Ask torch, with random ids, short to the longest: single texts, and batches padded on the right.

    Of each single text several positions are compared, of each row of the batches of 1, 2 and 7 one.
    """
    rng = np.random.default_rng(_SEED)
    cases = []
    lengths_asked = (*LENGTHS, architecture.max_positions)
    for length in lengths_asked:
        ids = rng.integers(0, architecture.vocab_size, (1, length))
        seen, types = np.ones_like(ids), np.zeros_like(ids)
        positions = np.array([0, length // 2, length - 1])
        expected = reference.all_logits(ids, seen, types)[0, positions]
        cases.append(ParityCase(ids=ids, seen=seen, types=types, positions=positions, expected=expected))
    for batch in BATCHES:
        for length in lengths_asked:
            ids = rng.integers(0, architecture.vocab_size, (batch, length))
            types = rng.integers(0, architecture.type_vocab_size, (batch, length))
            lengths = rng.integers(1, length + 1, batch)
            lengths[0] = length
            seen = (np.arange(length) < lengths[:, None]).astype(np.int64)
            positions = np.array([row * length + rng.integers(lengths[row]) for row in range(batch)])
            everywhere = reference.all_logits(ids, seen, types).reshape(batch * length, -1)
            cases.append(
                ParityCase(ids=ids, seen=seen, types=types, positions=positions, expected=everywhere[positions])
            )
    return cases


def save_cases(cases: Sequence[ParityCase], folder: Path) -> None:
    """Keep the cases for the stages that follow: torch is the slowest part of them."""
    arrays = {f"{field}{number}": getattr(case, field) for number, case in enumerate(cases) for field in _FIELDS}
    with (folder / CASES_FILE).open("wb") as file:
        np.savez(file, **arrays)


def saved_cases(folder: Path) -> Sequence[ParityCase]:
    """Read what ``save_cases`` wrote."""
    with np.load(folder / CASES_FILE) as arrays:
        count = len(arrays.files) // len(_FIELDS)
        return [ParityCase(**{field: arrays[f"{field}{number}"] for field in _FIELDS}) for number in range(count)]


def check_parity(model: Path, cases: Sequence[ParityCase], tolerance: float) -> float:
    """Compare a graph with torch; one that reads single texts only is asked those.

    Args:
        model: a graph with all or some of the inputs of network.INPUTS.
        cases: of its checkpoint.
        tolerance: the largest difference of a logit that passes.

    Returns:
        The largest difference seen.

    Raises:
        ParityError: all batches that differ by more.
    """
    session = open_session(model)
    read = [declared.name for declared in session.get_inputs()]
    failures: list[str] = []
    largest = 0.0
    for case in cases if "attention_mask" in read else [case for case in cases if case.single]:
        feeds = {
            "input_ids": case.ids,
            "attention_mask": case.seen,
            "token_type_ids": case.types,
            "mask_positions": case.positions,
        }
        [logits] = session.run(None, {name: feeds[name] for name in read})
        difference = float(np.abs(logits - case.expected).max())
        largest = max(largest, difference)
        if not difference <= tolerance:  # also true for NaN
            batch, length = case.ids.shape
            failures.append(f"a batch of {batch} by {length} tokens differs from torch by {difference:.2g}")
    if failures:
        raise ParityError(failures)
    return largest
