"""What the model reads in which order: rows of entry numbers, mixed by kind and bucketed by length.

The order is a function of the seed and the batch number alone, so a run resumed at batch n goes on exactly as if it had
never stopped. A round is a fixed number of rows; each kind gives its share of them out of its own endless sequence of
shuffled passes, so every row of a kind is read equally often.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from export.train.text import normalised, sentences
from export.train.tokenizer import Tokenizer

Row = NDArray[np.int16]
BUCKETS: Final = (8, 16, 24, 32, 48, 64)
MAX_ROW: Final = BUCKETS[-1] - 2  # room for [CLS] and [SEP]
ROUND_TOKENS: Final = 2_000_000
MIN_ROW: Final = 4
COMMON_FREQUENCY: Final = 20  # in jieba's dictionary; some 5,000 idioms
KNOWN_OCCURRENCES: Final = 6  # in the training text; some 1,900 of those
LONGEST_QUATRAIN: Final = 32  # four lines of seven with their marks
# Shares of the tokens of a round, by kind of row; the ..._short kinds are single sentences.
SHARES: Final = {
    "poem": 0.28,
    "famous": 0.07,
    "famous_short": 0.03,
    "quatrain": 0.04,
    "news": 0.17,
    "news_short": 0.03,
    "review": 0.12,
    "review_short": 0.03,
    "everyday": 0.03,
    "idiom_text": 0.04,
    "idiom": 0.16,
}
# A last phase that learns by heart what people try first.
BY_HEART: Final = {
    "poem": 0.14,
    "famous": 0.06,
    "famous_short": 0.06,
    "quatrain": 0.14,
    "news": 0.13,
    "news_short": 0.03,
    "review": 0.09,
    "review_short": 0.02,
    "everyday": 0.05,
    "idiom_text": 0.03,
    "idiom": 0.25,
}
# Half of it modern prose, whose supply is small and read often; what is known by heart is kept up.
MODERN: Final = {
    "poem": 0.26,
    "famous": 0.04,
    "famous_short": 0.03,
    "quatrain": 0.04,
    "news": 0.21,
    "news_short": 0.05,
    "review": 0.15,
    "review_short": 0.05,
    "everyday": 0.04,
    "idiom_text": 0.05,
    "idiom": 0.08,
}
MIXTURES: Final = {"general": SHARES, "by_heart": BY_HEART, "modern": MODERN}


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of one bucket."""

    bucket: int
    rows: list[Row]


def packed(text: str, tokenizer: Tokenizer, limit: int = MAX_ROW) -> Iterator[Row]:
    """Whole sentences of a document packed to rows; a longer sentence is cut into pieces."""
    current: list[Row] = []
    length = 0
    for sentence in sentences(text):
        row = tokenizer.encode(sentence)
        if current and length + len(row) > limit:
            yield np.concatenate(current)
            current, length = [], 0
        if len(row) > limit:
            yield from (row[start : start + limit] for start in range(0, len(row), limit))
        else:
            current.append(row)
            length += len(row)
    if current:
        yield np.concatenate(current)


def packed_all(texts: Iterable[str], tokenizer: Tokenizer) -> list[Row]:
    """Rows of many documents."""
    return [row for text in texts for row in packed(text, tokenizer) if len(row) >= MIN_ROW]


def single_sentences(texts: Iterable[str], tokenizer: Tokenizer) -> list[Row]:
    """Each sentence of middling length as a row of its own: what people type into a fill-mask box."""
    rows = (tokenizer.encode(sentence) for text in texts for sentence in sentences(text))
    return [row for row in rows if 5 <= len(row) <= 40]


def quatrains(texts: Iterable[str], tokenizer: Tokenizer) -> list[Row]:
    """The four-line poems of the anthologies, whole and by couplet: what children know by heart."""
    short = [text for text in texts if len(text) <= LONGEST_QUATRAIN]
    return packed_all(short, tokenizer) + single_sentences(short, tokenizer)


def occurrences(idioms: Iterable[str], texts: Iterable[str]) -> dict[str, int]:
    """How often each four-character idiom stands in the texts."""
    counts = dict.fromkeys(idioms, 0)
    for text in texts:
        for start in range(len(text) - 3):
            word = text[start : start + 4]
            if word in counts:
                counts[word] += 1
    return counts


def idiom_rows(frequencies: Mapping[str, int], occurring: Mapping[str, int], tokenizer: Tokenizer) -> list[Row]:
    """Common idioms by themselves, the best known ones more often; the others are left to the texts they stand in.

    A small network learns an idiom by heart only after some twenty masks at each of its places, so its time is spent on
    those that people use. Three with commas and a full stop fill a bucket of sixteen; one alone is what people ask, but
    wastes a quarter of its bucket.
    """
    readable = [word for word in frequencies if all(character in tokenizer.ids for character in word)]
    common = [word for word in readable if frequencies[word] >= COMMON_FREQUENCY]
    known = [word for word in common if occurring[word] >= KNOWN_OCCURRENCES]
    rows = [tokenizer.encode(word) for word in common + 3 * known]
    rows += [tokenizer.encode(word + "。") for word in known]
    rng = np.random.default_rng(0)
    for words in (common, known, known):
        order = rng.permutation(len(words))
        for start in range(0, len(words) - 2, 3):
            rows.append(tokenizer.encode("，".join(words[at] for at in order[start : start + 3])))
    return rows


def read_rows(corpus: Path, tokenizer: Tokenizer) -> dict[str, list[Row]]:
    """The rows of every kind of SHARES."""

    def texts(kind: str) -> list[str]:
        return normalised((corpus / f"train_{kind}.txt").read_text(encoding="utf-8")).splitlines()

    lines = (line.split("\t") for line in (corpus / "idioms.tsv").read_text(encoding="utf-8").splitlines())
    idioms = {word: int(frequency) for word, frequency in lines}
    occurring = occurrences(idioms, (text for kind in ("idiom", "news", "review", "everyday") for text in texts(kind)))
    return {
        "poem": packed_all(texts("poem"), tokenizer),
        "famous": packed_all(texts("famous"), tokenizer),
        "famous_short": single_sentences(texts("famous"), tokenizer),
        "quatrain": quatrains(texts("famous"), tokenizer),
        "news": packed_all(texts("news"), tokenizer),
        "news_short": single_sentences(texts("news"), tokenizer),
        "review": packed_all(texts("review"), tokenizer),
        "review_short": single_sentences(texts("review"), tokenizer),
        "everyday": packed_all(texts("everyday"), tokenizer),
        "idiom_text": packed_all(texts("idiom"), tokenizer),
        "idiom": idiom_rows(idioms, occurring, tokenizer),
    }


class Mixture:
    """An endless, seekable sequence of batches."""

    def __init__(
        self, rows: dict[str, list[Row]], seed: int, batch_tokens: int, shares: dict[str, float] | None = None
    ):
        """Work out how many rows of each kind make its share of a round."""
        self.rows = rows
        self.seed = seed
        self.batch_tokens = batch_tokens
        self.quota = {}
        for kind, share in (shares or SHARES).items():
            if not rows[kind]:
                continue
            mean = sum(map(len, rows[kind])) / len(rows[kind]) + 2
            self.quota[kind] = max(1, round(ROUND_TOKENS * share / mean))

    def round(self, number: int) -> list[Batch]:
        """All batches of one round."""
        chosen = [row for kind in self.quota for row in self._rows_of(kind, number)]
        rng = np.random.default_rng([self.seed, 1, number])
        waiting: dict[int, list[Row]] = {bucket: [] for bucket in BUCKETS}
        batches = []
        for index in rng.permutation(len(chosen)):
            row = chosen[index]
            bucket = next(size for size in BUCKETS if len(row) + 2 <= size)
            waiting[bucket].append(row)
            if len(waiting[bucket]) * bucket >= self.batch_tokens:
                batches.append(Batch(bucket, waiting[bucket]))
                waiting[bucket] = []
        return batches

    def from_position(self, round_number: int, index: int) -> Iterator[tuple[int, int, Batch]]:
        """Batches from a position on, each with its round and its index there."""
        while True:
            for at, batch in enumerate(self.round(round_number)):
                if at >= index:
                    yield round_number, at, batch
            round_number, index = round_number + 1, 0

    def _rows_of(self, kind: str, number: int) -> Iterator[Row]:
        rows = self.rows[kind]
        kind_seed = sorted(self.rows).index(kind)
        first = number * self.quota[kind]
        order, order_of = np.empty(0, np.int64), -1
        for position in range(first, first + self.quota[kind]):
            a_pass, index = divmod(position, len(rows))
            if a_pass != order_of:
                order = np.random.default_rng([self.seed, 2, kind_seed, a_pass]).permutation(len(rows))
                order_of = a_pass
            yield rows[order[index]]
