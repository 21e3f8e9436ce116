"""The values that travel between the parts. Offsets are code points of the caller's own string."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
import numpy.typing as npt

from handler.core.errors import TiankongError

FloatArray = npt.NDArray[np.float32]
BoolArray = npt.NDArray[np.bool_]


class Neighbour(Enum):
    """What stands directly to the left of a blank: it decides which word pieces may follow."""

    NONE = "none"  # nothing, a space, punctuation, a Han character or another blank
    LATIN = "latin"  # a Latin letter or a digit
    OTHER = "other"  # a letter of a script that is neither Latin nor Han


@dataclass(frozen=True, slots=True, kw_only=True)
class Mask:
    """One blank as the caller wrote it: ``text[start:end]``."""

    index: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedSegment:
    """A stretch of text without blanks, as the tokenizer sees it; offsets count from the start of the stretch."""

    ids: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedSequence:
    """What the model reads: ids with [CLS] and [SEP], and where the blanks stand among them."""

    ids: tuple[int, ...]  # (sequence,)
    mask_positions: tuple[int, ...]  # (masks,), indices into ids


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedText:
    """A text ready for the model, with what only the caller's own string can tell."""

    text: str
    masks: tuple[Mask, ...]
    neighbours: tuple[Neighbour, ...]  # one for each mask
    sequence: MaskedSequence
    truncated: bool
    unknown_characters: int
    longest_filling: int  # tokens that may stand in place of one blank with all blanks still in the model's window


TokenIds = tuple[int, ...]  # what one blank is filled with; several where a target is more than one token


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusableTarget:
    """A target that the model cannot score, and why (a stable word)."""

    target: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSet:
    """The targets of one blank, resolved: vocabulary ids to the caller's spelling, in the caller's order."""

    spellings: Mapping[TokenIds, str]
    unusable: tuple[UnusableTarget, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedFilling:
    """One entry of a ranking.

    ``score`` is the softmax over the whole vocabulary, before any ban, and for several tokens the product of theirs;
    ``target_score`` the same renormalised over the usable targets (None without targets).
    """

    token_ids: TokenIds
    score: float
    target_score: float | None = None


Ranking = tuple[RankedFilling, ...]  # best first


class JointSource(Enum):
    """Where a joint filling comes from."""

    LEXICON = "lexicon"  # every blank is part of a known phrase
    MODEL = "model"
    MIXED = "mixed"  # phrases, and the model for the other blanks


@dataclass(frozen=True, slots=True, kw_only=True)
class JointFilling:
    """All blanks of a text filled together.

    ``score`` is the probability that the model gives the filling: for a phrase that one pass decided the product over
    its characters with every blank open, otherwise the product along the order of filling. ``lexicon_score`` is the
    phrase's share among all entries that complete the text.
    """

    token_ids: tuple[int, ...]  # one for each mask
    score: float
    lexicon_score: float | None
    source: JointSource


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedText:
    """What the model has to say about a text, and all of it that may be cached."""

    rankings: tuple[Ranking, ...]  # one for each mask
    joint: tuple[JointFilling, ...]  # best first; none where they were not asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One filling offered to the caller."""

    token: str  # as it appears in the text, without the ## of a word piece
    piece: str  # as it stands in the vocabulary; of several tokens the caller's spelling
    token_ids: TokenIds
    score: float
    target_score: float | None
    text: str  # the caller's string with this filling in place of this mask


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledMask:
    """A blank and its candidates, best first."""

    mask: Mask
    candidates: tuple[Candidate, ...]
    unusable_targets: tuple[UnusableTarget, ...] | None  # None without targets


@dataclass(frozen=True, slots=True, kw_only=True)
class JointCandidate:
    """One filling of all blanks together."""

    tokens: tuple[str, ...]  # one for each mask
    score: float
    lexicon_score: float | None
    source: JointSource
    text: str  # the caller's string with every blank filled


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledText:
    """The answer for one text."""

    text: str
    truncated: bool
    unknown_characters: int
    cached: bool
    masks: tuple[FilledMask, ...]
    joint: tuple[JointCandidate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A character that should rather stand there; the margin is by how much, as a natural logarithm."""

    token: str
    margin: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A character that is likely wrong, with suggestions, best first."""

    start: int
    end: int
    original: str
    suggestions: tuple[Suggestion, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedText:
    """A text with its likely wrong characters."""

    text: str
    corrected: str  # with the best suggestion for each in place
    unknown_characters: int
    cached: bool
    corrections: tuple[Correction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredPiece:
    """One token of a scored text; None for a token that the vocabulary lacks."""

    token: str
    start: int
    end: int
    log_probability: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredText:
    """A text with its pseudo-log-likelihood: the sum over its known tokens, each with itself hidden."""

    text: str
    pseudo_log_likelihood: float
    unknown_characters: int
    cached: bool
    per_token: tuple[ScoredPiece, ...]

    @property
    def mean_log_probability(self) -> float:
        """The likelihood by token, by which texts of different lengths compare."""
        known = [piece.log_probability for piece in self.per_token if piece.log_probability is not None]
        return sum(known) / len(known) if known else float("-inf")


TextResult = FilledText | CorrectedText | ScoredText


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedText:
    """A text of a batch that could not be answered; its neighbours are not touched."""

    text: str
    error: TiankongError


@dataclass(slots=True, kw_only=True)
class Timing:
    """Where the time of one request went, in milliseconds."""

    total_ms: float = 0.0
    encode_ms: float = 0.0
    run_ms: float = 0.0
    decode_ms: float = 0.0
    cache_ms: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelIdentity:
    """Which model answered: its name and the digest of everything in its artifact that an answer depends on."""

    name: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer to a whole request, before it takes the shape that its door speaks."""

    model: ModelIdentity
    results: tuple[TextResult | FailedText, ...]
    timing: Timing
    passes: int  # sequences that went through the model
    cache_faults: int  # cache operations that failed and were ignored

    @property
    def cache_hits(self) -> int:
        """Texts answered from a cache."""
        return sum(not isinstance(result, FailedText) and result.cached for result in self.results)

    @property
    def failed_texts(self) -> int:
        """Texts that carry an error instead of an answer."""
        return sum(isinstance(result, FailedText) for result in self.results)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much one request may ask for; see the settings of the same names."""

    max_texts: int
    max_text_chars: int
    max_masks: int
    max_top_k: int
    max_tokens: int
    max_passes: int
    max_body_bytes: int = field(default=6 * 1024 * 1024)  # what Lambda delivers and takes back in one invocation
