"""The bounds by which a request is refused before any work: no answer of the language part is larger, or dearer."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from handler.core import answers
from handler.core.cache_chain import CacheChain
from handler.core.correcting import Correcting
from handler.core.filling import Filling
from handler.core.operations import Operation
from handler.core.requests import Request, parse_correct, parse_native, parse_score
from handler.core.scoring import Scoring
from handler.core.service import Service
from handler.core.sizes import ENVELOPE_BYTES
from handler.core.types import ModelIdentity
from tests.support.doubles import FakeModel, FixedDeadline
from tests.support.language import LIMITS, TINY, errors_of, lexicon_of, scattered, tiny_tokenizer, tiny_vocabulary

PARTS: dict[str, Any] = {"tokenizer": tiny_tokenizer(), "limits": LIMITS, "digest": "d"}
LEXICON = lexicon_of({"一心一意": 9, "三心二意": 4, "一马二兔": 2, "二马一兔": 2}, TINY)
TEXTS = st.lists(st.sampled_from([*'一心二意马兔的地a"\\\n\x01龘🐶é，。 ', "[MASK]", "[MASK]"]), max_size=14).map(
    "".join
)


def answered(request: Request, model: FakeModel) -> Any:
    """Answer a request of the tiny world, as JSON."""
    service = Service(
        tokenizer=tiny_tokenizer(),
        model=model,
        identity=ModelIdentity(name="tiny", digest="d"),
        limits=LIMITS,
        cache=CacheChain(local=None, shared=None, admit_after=2),
        lexicon=LEXICON,
        errors=errors_of(TINY, threshold=0.0),
    )
    return answers.render(service.answer(request, FixedDeadline()), request, "")


def holds(operation: Operation[Any, Any, Any], request: Request, seed: int) -> bool:
    """Tell whether the answer, as JSON inside a JSON string, and its tokens stay within what was foretold."""
    model = scattered(6.0, seed)
    job = operation.job(request.texts[0], request)
    size = len(json.dumps(json.dumps(answered(request, model))))
    tokens = sum(len(sequence.ids) for sequence in model.sequences)
    return size <= ENVELOPE_BYTES + operation.worst_bytes(job) and tokens <= job.expected_tokens


@settings(max_examples=100)
@given(
    TEXTS,
    st.integers(0, 99),
    st.sampled_from([1, 3, 8]),
    st.none() | st.lists(st.text('一心a"\\', min_size=1, max_size=5), min_size=1, max_size=5),
)
def test_fillings_stay_within_their_bounds(text: str, seed: int, beam: int, targets: list[str] | None) -> None:
    """With joint fillings, or with targets of all lengths."""
    filling = Filling(vocabulary=tiny_vocabulary(), lexicon=LEXICON, **PARTS)
    text = text.replace("[MASK]", "", max(0, text.count("[MASK]") - 5)) + "[MASK]"

    assert holds(filling, parse_native({"text": text, "beam": beam, "targets": targets, "top_k": 20}, LIMITS), seed)


@settings(max_examples=100)
@given(TEXTS, st.integers(0, 99), st.booleans())
def test_corrections_stay_within_their_bounds(text: str, seed: int, particles: bool) -> None:
    """With suggestions at nearly every character."""
    correcting = Correcting(vocabulary=tiny_vocabulary(), errors=errors_of(TINY, threshold=0.0), **PARTS)

    assert holds(correcting, parse_correct({"text": text, "particles": particles}, LIMITS), seed)


@settings(max_examples=100)
@given(TEXTS, st.integers(0, 99))
def test_scores_stay_within_their_bounds(text: str, seed: int) -> None:
    """With every token told."""
    assert holds(Scoring(**PARTS), parse_score({"text": "一" + text}, LIMITS), seed)
