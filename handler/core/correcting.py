"""The operation that finds wrong characters; see handler.core.correction for how."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from handler.core import correction, keys
from handler.core.correction import Corrector, Finding, TokenSuggestion
from handler.core.error_model import ErrorModel
from handler.core.errors import CacheRecordInvalidError, OperationUnavailableError, PassBudgetError
from handler.core.ports import MaskedLanguageModel, Tokenizer
from handler.core.requests import CorrectRequest
from handler.core.sentences import Part, check, parts_of, unknown_characters
from handler.core.sizes import TEXT_BYTES, worst_string_bytes
from handler.core.types import CorrectedText, Correction, Limits, Suggestion
from handler.core.vocabulary import Vocabulary

Findings = tuple[Finding, ...]
_SUGGESTION_BYTES = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectJob:
    """A text to be corrected."""

    text: str
    parts: tuple[Part, ...]
    particles: bool
    key: str

    @property
    def expected_tokens(self) -> int:
        """See handler.core.operations.Job."""
        return correction.STRIDE * sum(len(part.ids) + 2 for part in self.parts)


class Correcting:
    """See handler.core.operations.Operation.

    Args:
        tokenizer: the model's own.
        vocabulary: the classes of its tokens.
        errors: the artifact's error model; None makes every request an error that says so.
        limits: what one request may ask for.
        digest: the artifact's; part of every key.
    """

    def __init__(
        self,
        *,
        tokenizer: Tokenizer,
        vocabulary: Vocabulary,
        errors: ErrorModel | None,
        limits: Limits,
        digest: str,
    ) -> None:
        self._tokenizer = tokenizer
        self._vocabulary = vocabulary
        self._corrector = Corrector(tokenizer, vocabulary, errors) if errors else None
        self._limits = limits
        self._digest = digest

    def job(self, text: str, request: CorrectRequest) -> CorrectJob:
        """See Operation."""
        if self._corrector is None:
            raise OperationUnavailableError(what="an error model")
        check(text, self._limits)
        parts = parts_of(text, self._tokenizer, self._limits.max_tokens - 2)
        if correction.passes_needed(parts) > self._limits.max_passes:
            raise PassBudgetError(limit=self._limits.max_passes)
        facts = {"ids": [part.ids for part in parts], "particles": request.particles}
        return CorrectJob(
            text=text,
            parts=parts,
            particles=request.particles,
            key=keys.key(self._digest, "correct", facts),
        )

    def worst_bytes(self, job: CorrectJob) -> int:
        """See Operation."""
        tokens = sum(len(part.ids) for part in job.parts)
        each = TEXT_BYTES + correction.SUGGESTIONS * _SUGGESTION_BYTES
        return TEXT_BYTES + 2 * worst_string_bytes(job.text) + tokens * each

    def compute(self, job: CorrectJob, model: MaskedLanguageModel) -> tuple[Findings, int]:
        """See Operation."""
        assert self._corrector is not None  # there would be no job
        return self._corrector.find(job.parts, model, particles=job.particles)

    def dump(self, value: Findings) -> str:
        """See Operation."""
        return json.dumps(
            [
                [found.part, found.position, [[each.token_id, each.margin] for each in found.suggestions]]
                for found in value
            ],
            separators=(",", ":"),
        )

    def load(self, payload: str, job: CorrectJob) -> Findings:
        """See Operation."""
        try:
            found = tuple(self._finding(entry, job) for entry in json.loads(payload))
            places = [(each.part, each.position) for each in found]
            if places != sorted(set(places)):
                raise ValueError("not in the order of the text")
            return found
        except (ValueError, TypeError, RecursionError) as error:
            raise CacheRecordInvalidError(problem="a cached payload is not what was written for this text") from error

    def _finding(self, entry: Any, job: CorrectJob) -> Finding:
        part, position, suggestions = entry
        if not (_is_index(part, len(job.parts)) and _is_index(position, len(job.parts[part].ids))):
            raise ValueError("a finding outside the text")
        if not 1 <= len(suggestions) <= correction.SUGGESTIONS:
            raise ValueError("no suggestions, or too many")
        return Finding(part=part, position=position, suggestions=tuple(map(self._suggestion, suggestions)))

    def _suggestion(self, entry: Any) -> TokenSuggestion:
        token_id, margin = entry
        if not _is_index(token_id, len(self._vocabulary)) or type(margin) is not float or not 0 < margin < math.inf:
            raise ValueError("no suggestion of this vocabulary")
        return TokenSuggestion(token_id=token_id, margin=margin)

    def compose(self, job: CorrectJob, value: Findings, *, cached: bool) -> CorrectedText:
        """See Operation."""
        corrections = []
        corrected, done = "", 0
        for found in value:
            start, end = job.parts[found.part].offsets[found.position]
            suggestions = tuple(
                Suggestion(token=self._vocabulary.surface(each.token_id), margin=each.margin)
                for each in found.suggestions
            )
            corrections.append(Correction(start=start, end=end, original=job.text[start:end], suggestions=suggestions))
            corrected += job.text[done:start] + suggestions[0].token
            done = end
        return CorrectedText(
            text=job.text,
            corrected=corrected + job.text[done:],
            unknown_characters=unknown_characters(job.parts, self._tokenizer),
            cached=cached,
            corrections=tuple(corrections),
        )


def _is_index(value: object, length: int) -> bool:
    return type(value) is int and 0 <= value < length
