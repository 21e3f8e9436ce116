"""What the core needs from outside, as protocols. The adapters fulfil them; the doubles in the tests do too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from handler.core.types import EncodedSegment, FloatArray, MaskedSequence


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecialIds:
    """Ids of the control tokens, as this vocabulary numbers them."""

    unk: int
    cls: int
    sep: int
    mask: int


class Tokenizer(Protocol):
    """The model's own tokenizer, without the parts that would interpret or decode a sentence."""

    @property
    def vocabulary(self) -> Sequence[str]:
        """All tokens, in the order of their ids."""
        ...

    @property
    def special(self) -> SpecialIds:
        """The control tokens that the model reads."""
        ...

    @property
    def special_ids(self) -> frozenset[int]:
        """Every id that is control, not text."""
        ...

    def encode(self, segment: str) -> EncodedSegment:
        """Encode a stretch of text in which nothing is control: a typed ``[SEP]`` is five characters.

        Args:
            segment: any string of whole code points (no lone surrogates); may be empty.

        Returns:
            Ids without [CLS] and [SEP], with code-point offsets into the segment.
        """
        ...


class MaskedLanguageModel(Protocol):
    """A BERT-type encoder with its masked-LM head, loaded and ready."""

    def logits(self, sequences: Sequence[MaskedSequence]) -> list[FloatArray]:
        """Score the whole vocabulary at every masked position.

        Args:
            sequences: token sequences with at least one masked position each, none longer than the model's limit.

        Returns:
            For each sequence float32 (masks, vocab): raw scores, larger is likelier. The numbers of a sequence do not
            depend on the others in the call.

        Raises:
            InferenceError: the runtime refused the input or failed.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheEntry:
    """A payload to be kept, and what it cost to compute: the dearer, the more it is worth keeping."""

    payload: str
    passes: int


class ResultCache(Protocol):
    """Keeps payloads under keys for a while. May forget at any time; must never invent."""

    def read(self, keys: Sequence[str]) -> Mapping[str, str]:
        """Return the payloads known and not expired, by key.

        Raises:
            CacheError: the cache failed or answered nonsense; the caller goes on without it.
        """
        ...

    def write(self, entries: Mapping[str, CacheEntry]) -> None:
        """Keep the payloads, unless the cache judges them not worth it.

        Raises:
            CacheError: the cache failed; nothing is retried.
        """
        ...


class ResultsQueue(Protocol):
    """Takes the answers to queued requests."""

    def send(self, messages: Mapping[str, str]) -> Mapping[str, str]:
        """Send JSON messages by message id.

        Returns:
            What was not taken: message id to reason. Empty when all were.
        """
        ...


class Deadline(Protocol):
    """How much of the invocation's time is left."""

    def remaining_ms(self) -> float:
        """Milliseconds until the function would be stopped; infinite where nothing stops it."""
        ...
