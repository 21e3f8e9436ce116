"""Which entries of a batch are hidden.

Every hidden entry is shown as [MASK] (no random or kept entries: the service only ever asks for masks). Idioms are
hidden on purpose more often than by chance: in half of the places where one stands, one or two of its characters.
Punctuation is hidden four times more rarely than characters: a seventh of a poem, it teaches next to nothing there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from export.train.mixture import Batch, Row
from export.train.tokenizer import PUNCTUATION, Tokenizer

Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class MaskedBatch:
    """What one training step reads."""

    ids: Ids  # (batch, sequence), masked
    real: NDArray[np.bool_]  # (batch, sequence), false at padding
    at: Ids  # (batch, queries), hidden positions; unused places repeat the first
    labels: Ids  # (batch, queries), what was hidden; IGNORE in unused places


SHORT_ROW: Final = 14  # idioms and couplets: to be known by heart, from little
SHORT_ROW_FACTOR: Final = 1.5
IGNORE: Final = -100
_PUNCTUATION_RARITY: Final = 4.0
_NEVER: Final = 1e9


class Masker:
    """Hides a share of each row's entries."""

    def __init__(self, tokenizer: Tokenizer, idioms: Sequence[str], rate: float) -> None:
        """Take the idioms to look for and the share of entries to hide."""
        self.tokenizer = tokenizer
        self.rate = rate
        self.punctuation = np.array([tokenizer.ids[mark] for mark in dict.fromkeys(PUNCTUATION)])
        self.idioms = {tokenizer.encode(word).tobytes() for word in idioms}

    def mask(self, batch: Batch, rng: np.random.Generator) -> MaskedBatch:
        """Build the arrays of a step; the generator decides what is hidden."""
        rows, width = batch.rows, batch.bucket
        ids = np.full((len(rows), width), self.tokenizer.pad_id, np.int64)
        ids[:, 0] = self.tokenizer.start_id
        noise = rng.exponential(size=ids.shape)  # the smallest of a row are hidden
        noise_of_idioms = rng.random((len(rows), 3))
        for index, row in enumerate(rows):
            ids[index, 1 : 1 + len(row)] = row
            ids[index, 1 + len(row)] = self.tokenizer.end_id
            if noise_of_idioms[index, 0] < 0.5:
                for start in self._idioms_in(row):
                    first, second = int(noise_of_idioms[index, 1] * 4), int(noise_of_idioms[index, 2] * 4)
                    noise[index, [1 + start + first, 1 + start + second]] = -1.0  # before all others
        special = np.isin(
            ids, [self.tokenizer.pad_id, self.tokenizer.start_id, self.tokenizer.end_id, self.tokenizer.unknown_id]
        )
        noise[np.isin(ids, self.punctuation)] *= _PUNCTUATION_RARITY
        noise[special] = _NEVER
        lengths = np.array([len(row) for row in rows])
        rates = np.where(lengths <= SHORT_ROW, self.rate * SHORT_ROW_FACTOR, self.rate)
        counts = np.maximum(1, np.round(lengths * rates)).astype(np.int64)
        counts = np.maximum(counts, np.minimum((noise < 0).sum(1), 1 + counts))
        most = int(counts.max())
        at = np.argpartition(noise, most - 1, axis=1)[:, :most] if most < width else np.argsort(noise, axis=1)
        at = np.take_along_axis(at, np.argsort(np.take_along_axis(noise, at, 1), 1), 1)
        labels = np.take_along_axis(ids, at, 1)
        unused = (np.arange(most) >= counts[:, None]) | (np.take_along_axis(noise, at, 1) >= _NEVER)
        labels[unused] = IGNORE
        at[unused] = 0
        real = ids != self.tokenizer.pad_id
        index_of_row = np.broadcast_to(np.arange(len(rows))[:, None], at.shape)
        ids[index_of_row[~unused], at[~unused]] = self.tokenizer.mask_id
        return MaskedBatch(ids, real, at, labels)

    def _idioms_in(self, row: Row) -> list[int]:
        data = row.tobytes()
        return [start for start in range(len(row) - 3) if data[2 * start : 2 * start + 8] in self.idioms]
