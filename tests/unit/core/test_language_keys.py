"""Equal keys mean equal uncached answers, with joint filling, a lexicon, targets of all lengths and a shared cache."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from handler.adapters.memory_cache import MemoryCache
from handler.core.cache_chain import CacheChain
from handler.core.filling import Filling
from handler.core.ports import ResultCache
from handler.core.requests import parse_native
from handler.core.service import Service
from handler.core.text import find_masks
from handler.core.types import FilledText, ModelIdentity
from tests.support.doubles import FixedDeadline, RecordingCache
from tests.support.language import LIMITS, TINY, lexicon_of, scattered, tiny_tokenizer, tiny_vocabulary

LEXICON = lexicon_of({"一心一意": 9, "一心二意": 3, "三心二意": 4, "一龘二意": 5, "龘心一意": 6, "意马心": 1}, TINY)
# Pieces that the model reads alike: an unknown character is [UNK] whichever it is, and spaces are nothing.
ALIKE = (
    ("一",),
    ("心",),
    ("意",),
    ("龘", "㐂", "𠮷"),
    ("a", "A"),
    ("", " ", "\u200b", "\u3000"),
    ("，",),
    ("[MASK]", "【mask】"),
)


@st.composite
def alike_texts(draw: st.DrawFn) -> tuple[str, str]:
    """Draw two texts put together from the same pieces in different spellings."""
    first = second = ""
    for kind in draw(st.lists(st.sampled_from(ALIKE), min_size=1, max_size=7)):
        first += draw(st.sampled_from(kind))
        second += draw(st.sampled_from(kind))
    return first + "[MASK]", second + "[mask]"


OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "joint": st.sampled_from(["auto", "off"]),
        "lexicon": st.booleans(),
        "beam": st.sampled_from([1, 3]),
        "top_k": st.sampled_from([2, 5]),
        "targets": st.permutations(["心", "一心", "A", "意马心"]).map(lambda targets: targets[:3]),
    },
)


def service(shared: ResultCache | None = None) -> Service:
    """Return a service on the tiny world."""
    return Service(
        tokenizer=tiny_tokenizer(),
        model=scattered(2.0),
        identity=ModelIdentity(name="tiny", digest="d"),
        limits=LIMITS,
        cache=CacheChain(local=None, shared=shared, admit_after=2),
        lexicon=LEXICON,
    )


def numbers(result: object) -> Any:
    """Return the model's part of an answer."""
    assert isinstance(result, FilledText)
    return (
        [[(each.token_ids, each.score, each.target_score) for each in mask.candidates] for mask in result.masks],
        [(each.tokens, each.score, each.lexicon_score, each.source) for each in result.joint],
    )


def test_equal_keys_mean_equal_uncached_answers() -> None:
    """Two requests that share a cache entry get exactly the same numbers without any cache."""
    uncached = service()
    filling = Filling(
        tokenizer=tiny_tokenizer(), vocabulary=tiny_vocabulary(), lexicon=LEXICON, limits=LIMITS, digest="d"
    )
    met = 0

    @given(alike_texts(), OPTIONS, OPTIONS)
    @settings(max_examples=300)
    def compare(texts: tuple[str, str], options: dict[str, Any], others: dict[str, Any]) -> None:
        nonlocal met
        if any(len(find_masks(text)) > LIMITS.max_masks for text in texts):
            return
        requests = [
            parse_native({"text": text, **chosen}, LIMITS)
            for text, chosen in zip(texts, (options, others), strict=True)
        ]
        first, second = (filling.job(request.texts[0], request).key for request in requests)
        if first == second:
            met += requests[0] != requests[1]
            answers = [uncached.answer(request, FixedDeadline()).results[0] for request in requests]
            assert numbers(answers[0]) == numbers(answers[1])

    compare()
    assert met > 5, "the texts are made so that keys meet"


@given(st.lists(st.sampled_from(["一", "心", "意", "，", " ", "[MASK]"]), max_size=6).map("".join), OPTIONS)
@settings(max_examples=60)
def test_a_shared_cache_gives_back_what_was_computed(text: str, options: dict[str, Any]) -> None:
    """Answered again from the table, every number is the same, targets of several tokens included."""
    cache = MemoryCache(ttl_s=60)
    request = parse_native({"text": text + "[MASK]", **options}, LIMITS)

    first, *_, last = (service(cache).answer(request, FixedDeadline()).results[0] for _ in range(4))

    assert numbers(first) == numbers(last)


def test_an_answer_of_several_passes_is_written_to_a_shared_cache_at_once() -> None:
    """What was dear to compute is kept on first sight; a single pass waits for the second."""
    for payload, passes, writes in (
        ({"text": "一[MASK]，[MASK]"}, 2, 1),
        ({"text": "一[MASK]", "targets": ["心", "一心", "意马心"]}, 3, 1),
        ({"text": "一心[MASK]意"}, 1, 0),
    ):
        cache = RecordingCache(MemoryCache(ttl_s=60))

        answer = service(cache).answer(parse_native(payload, LIMITS), FixedDeadline())

        assert (answer.passes, len(cache.writes)) == (passes, writes)
