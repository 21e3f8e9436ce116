"""The artifact that ships in layers/model and the real parts on it, each loaded once."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from handler.adapters.artifact import Artifact, open_artifact
from handler.adapters.onnx_model import OnnxMaskedLanguageModel
from handler.adapters.tokenizer import WordPieceTokenizer
from handler.core.cache_chain import CacheChain
from handler.core.ports import Deadline, MaskedLanguageModel, ResultCache
from handler.core.requests import parse_native
from handler.core.service import Service
from handler.core.text import TextPreparer
from handler.core.types import Answer, FilledText, Limits, TokenIds
from handler.core.vocabulary import Vocabulary
from handler.settings import Settings
from tests.support.doubles import FixedDeadline


@cache
def artifact() -> Artifact:
    """Return the embedded artifact."""
    return open_artifact(Settings().model_dir)


@cache
def tokenizer() -> WordPieceTokenizer:
    """Return its tokenizer."""
    return WordPieceTokenizer(artifact().path("tokenizer.json"), artifact().special, artifact().vocabulary_size)


@cache
def vocabulary() -> Vocabulary:
    """Return the classes of its tokens."""
    return Vocabulary(tokenizer().vocabulary, tokenizer().special_ids)


@cache
def model() -> OnnxMaskedLanguageModel:
    """Return its model, on one thread."""
    return OnnxMaskedLanguageModel(artifact().path("model.onnx"), threads=1, vocabulary_size=artifact().vocabulary_size)


def limits(**changes: int) -> Limits:
    """Return the limits by default, with changes."""
    return replace(Settings().limits(artifact().max_positions), **changes)


def preparer(**changes: int) -> TextPreparer:
    """Return a preparer of texts under changed limits."""
    return TextPreparer(tokenizer(), vocabulary(), limits(**changes))


def service(
    *,
    model: MaskedLanguageModel | None = None,
    local: ResultCache | None = None,
    shared: ResultCache | None = None,
    admit_after: int = 2,
    limits: Limits | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Service:
    """Return a service on the embedded artifact, without caches unless some are given."""
    return Service(
        tokenizer=tokenizer(),
        model=model or _model(),
        identity=artifact().identity,
        limits=limits or _limits(),
        cache=CacheChain(local=local, shared=shared, admit_after=admit_after),
        clock=clock,
    )


_model, _limits = model, limits  # under names that the arguments of service() do not hide


def fill(service: Service, payload: dict[str, Any], deadline: Deadline | None = None) -> Answer:
    """Answer a native request."""
    return service.answer(parse_native(payload, service.limits), deadline or FixedDeadline())


def scores(result: object) -> list[list[tuple[TokenIds, float, float | None]]]:
    """Return ids and scores of one answered text, mask by mask."""
    assert isinstance(result, FilledText)
    return [
        [(candidate.token_ids, candidate.score, candidate.target_score) for candidate in mask.candidates]
        for mask in result.masks
    ]
