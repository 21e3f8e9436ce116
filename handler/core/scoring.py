"""The operation that scores texts by their pseudo-log-likelihood.

Each token is hidden once, and the log-probabilities of the hidden ones are added up (Salazar et al. 2020, "Masked
language model scoring"). Among texts of equal length the sum tells which is the most natural; among others the mean.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from handler.core import keys
from handler.core.errors import CacheRecordInvalidError, PassBudgetError, TextEmptyError
from handler.core.ports import MaskedLanguageModel, Tokenizer
from handler.core.ranking import log_softmax, shortest
from handler.core.requests import ScoreRequest
from handler.core.sentences import Part, check, masked, parts_of, unknown_characters
from handler.core.sizes import TEXT_BYTES, worst_string_bytes
from handler.core.types import Limits, ScoredPiece, ScoredText

# One for each token, part after part; None for a token that the vocabulary lacks: that it is unknown says nothing.
LogProbabilities = tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreJob:
    """A text to be scored."""

    text: str
    parts: tuple[Part, ...]
    key: str

    @property
    def expected_tokens(self) -> int:
        """See handler.core.operations.Job."""
        return sum(len(part.ids) * (len(part.ids) + 2) for part in self.parts)


class Scoring:
    """See handler.core.operations.Operation.

    Args:
        tokenizer: the model's own.
        limits: what one request may ask for.
        digest: the artifact's; part of every key.
    """

    def __init__(self, *, tokenizer: Tokenizer, limits: Limits, digest: str) -> None:
        self._tokenizer = tokenizer
        self._limits = limits
        self._digest = digest

    def job(self, text: str, request: ScoreRequest) -> ScoreJob:
        """See Operation."""
        del request  # scoring has no options
        check(text, self._limits)
        parts = parts_of(text, self._tokenizer, self._limits.max_tokens - 2)
        passes = sum(token_id != self._tokenizer.special.unk for part in parts for token_id in part.ids)
        if not passes:
            raise TextEmptyError
        if passes > self._limits.max_passes:
            raise PassBudgetError(limit=self._limits.max_passes)
        facts = {"ids": [part.ids for part in parts]}
        return ScoreJob(text=text, parts=parts, key=keys.key(self._digest, "score", facts))

    def worst_bytes(self, job: ScoreJob) -> int:
        """See Operation."""
        tokens = sum(len(part.ids) for part in job.parts)
        return TEXT_BYTES + 2 * worst_string_bytes(job.text) + tokens * TEXT_BYTES

    def compute(self, job: ScoreJob, model: MaskedLanguageModel) -> tuple[LogProbabilities, int]:
        """See Operation."""
        scores = tuple(score for part in job.parts for score in self._part(part, model))
        return scores, sum(score is not None for score in scores)

    def _part(self, part: Part, model: MaskedLanguageModel) -> list[float | None]:
        known = [at for at, token_id in enumerate(part.ids) if token_id != self._tokenizer.special.unk]
        logits = model.logits([masked(part, (at,), self._tokenizer) for at in known])
        scores = {at: shortest(log_softmax(rows)[0, part.ids[at]]) for at, rows in zip(known, logits, strict=True)}
        return [scores.get(at) for at in range(len(part.ids))]

    def dump(self, value: LogProbabilities) -> str:
        """See Operation."""
        return json.dumps(value, separators=(",", ":"))

    def load(self, payload: str, job: ScoreJob) -> LogProbabilities:
        """See Operation."""
        ids = [token_id for part in job.parts for token_id in part.ids]
        try:
            return tuple(self._score(entry, token_id) for entry, token_id in zip(json.loads(payload), ids, strict=True))
        except (ValueError, TypeError, RecursionError) as error:
            raise CacheRecordInvalidError(problem="a cached payload is not what was written for this text") from error

    def _score(self, entry: Any, token_id: int) -> float | None:
        unknown = token_id == self._tokenizer.special.unk
        if (entry is None) is not unknown or not (unknown or (type(entry) is float and float("-inf") < entry <= 0)):
            raise ValueError("no log-probability")
        score: float | None = entry
        return score

    def compose(self, job: ScoreJob, value: LogProbabilities, *, cached: bool) -> ScoredText:
        """See Operation."""
        offsets = [offset for part in job.parts for offset in part.offsets]
        return ScoredText(
            text=job.text,
            pseudo_log_likelihood=sum(score for score in value if score is not None),
            unknown_characters=unknown_characters(job.parts, self._tokenizer),
            cached=cached,
            per_token=tuple(
                ScoredPiece(token=job.text[start:end], start=start, end=end, log_probability=score)
                for (start, end), score in zip(offsets, value, strict=True)
            ),
        )
