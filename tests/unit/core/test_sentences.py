"""Texts cut into parts: nothing lost, nothing moved."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handler.core.sentences import masked, parts_of, unknown_characters
from tests.support import embedded

TOKENIZER = embedded.tokenizer()
TEXTS = st.lists(
    st.sampled_from(
        [*"今天气好的𠮷龘🐶 。！\n；，,", "Apple", "iPhone15", "é", "\u200b", "\u3000", "２０", "??", "한국"]
    )
).map("".join)


@settings(max_examples=200)
@given(TEXTS, st.integers(1, 12))
def test_parts_hold_the_tokens_of_the_whole_text(text: str, room: int) -> None:
    """Put together, the parts are the whole text's ids at its own offsets, and none is longer than the room."""
    parts = parts_of(text, TOKENIZER, room)
    whole = TOKENIZER.encode(text)

    assert whole.ids == tuple(token_id for part in parts for token_id in part.ids)
    assert whole.offsets == tuple(offset for part in parts for offset in part.offsets)
    assert all(1 <= len(part.ids) <= room for part in parts)


@given(TEXTS)
def test_unknown_characters_are_those_under_unknown_tokens(text: str) -> None:
    """Cutting a text changes nothing of how much of it the vocabulary lacks."""
    whole = TOKENIZER.encode(text)
    expected = sum(
        end - start
        for token_id, (start, end) in zip(whole.ids, whole.offsets, strict=True)
        if token_id == TOKENIZER.special.unk
    )

    assert expected == unknown_characters(parts_of(text, TOKENIZER, 7), TOKENIZER)


def test_parts_end_where_sentences_end() -> None:
    """As many whole sentences as fit stand together; closing punctuation stays with its sentence."""
    text = "今天好。明天也好！！后天呢"

    parts = parts_of(text, TOKENIZER, 10)

    assert [text[part.offsets[0][0] : part.offsets[-1][1]] for part in parts] == ["今天好。明天也好！！", "后天呢"]


@pytest.mark.parametrize("positions", [(0,), (1, 2)])
def test_masked_hides_just_these_tokens(positions: tuple[int, ...]) -> None:
    """Between [CLS] and [SEP] everything else stays as it was, and the hidden ones are asked for."""
    [part] = parts_of("今天好", TOKENIZER, 10)

    sequence = masked(part, positions, TOKENIZER)

    special = TOKENIZER.special
    inner = [special.mask if at in positions else token_id for at, token_id in enumerate(part.ids)]
    assert sequence.ids == (special.cls, *inner, special.sep)
    assert sequence.mask_positions == tuple(at + 1 for at in positions)
