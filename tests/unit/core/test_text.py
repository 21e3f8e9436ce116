"""Blanks, offsets, splicing and windows, on the embedded tokenizer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.core.errors import (
    InvalidInputError,
    MaskMissingError,
    MaskMisspeltError,
    MasksTooFarApartError,
    TextNotUnicodeError,
    TextTooLongError,
    TooLargeError,
    TooManyMasksError,
)
from handler.core.text import find_masks, neighbour_of, splice
from handler.core.types import Neighbour
from tests.support import embedded

ALIASES = (
    *("[MASK]", "[mask]", "[MaSk]", "［MASK］", "【MASK】", "[ MASK ]", "<mask>", "<MASK>", "【 mask】", "[MASK】"),
    *("[ＭＡＳＫ]", "［ｍａｓｋ］", "[\tMASK\u3000]", "<ＭＡＳＫ>", "[MASＫ]"),
)
ODD = "\x00\x1b\u200b\u200d\ufeff\u2028\u3000\u202e\u0301👍🏽👨𠮷𪚥שع飏Ａ１①aZ9é—“，。 \n#_*"
# No bracket that opens a blank, so that only the blanks put in are found.
PLAIN = st.text(
    st.one_of(st.sampled_from("今天气真好的是" + ODD), st.characters(exclude_characters="[［【<")), max_size=20
)
ANY = st.text(st.one_of(st.sampled_from("今天[]MASKmask［］【】<> \ud800\udfff" + ODD), st.characters()), max_size=60)
MANY = 10_000


@st.composite
def texts_with_blanks(draw: st.DrawFn, most: int = 5) -> tuple[str, list[tuple[int, int]]]:
    """Draw a text and the offsets at which its blanks were put."""
    text, offsets = draw(PLAIN), []
    for alias in draw(st.lists(st.sampled_from(ALIASES), min_size=1, max_size=most)):
        offsets.append((len(text), len(text) + len(alias)))
        text += alias + draw(PLAIN)
    return text, offsets


@given(texts_with_blanks())
def test_find_masks_returns_the_offsets_of_every_alias(drawn: tuple[str, list[tuple[int, int]]]) -> None:
    """Every accepted spelling of a blank is found where it was put, and nothing else is."""
    text, offsets = drawn

    masks = find_masks(text)

    assert offsets == [(mask.start, mask.end) for mask in masks]
    assert list(range(len(offsets))) == [mask.index for mask in masks]


@given(texts_with_blanks(), st.text(max_size=4))
def test_splice_changes_nothing_outside_the_mask(drawn: tuple[str, list[tuple[int, int]]], filling: str) -> None:
    """Whatever is put into a blank, every other character of the caller's string stays, and so does the way back."""
    text, _ = drawn
    for mask in find_masks(text):
        filled = splice(text, mask, filling)
        tail = len(text) - mask.end

        assert text[: mask.start] == filled[: mask.start]
        assert text[mask.end :] == filled[len(filled) - tail :]
        assert filling == filled[mask.start : len(filled) - tail]


@given(ANY)
def test_prepare_raises_only_declared_errors_on_any_string(text: str) -> None:
    """No string at all, lone surrogates included, is more than a declared error of the caller."""
    try:
        prepared = embedded.preparer().prepare(text)
    except (InvalidInputError, TooLargeError):
        return

    assert text == prepared.text
    assert len(prepared.masks) == len(prepared.sequence.mask_positions) == len(prepared.neighbours)


@given(texts_with_blanks(), st.integers(8, 40))
def test_window_is_a_part_of_the_whole_encoding_with_all_masks(
    drawn: tuple[str, list[tuple[int, int]]], limit: int
) -> None:
    """A window is no longer than the limit, contiguous, holds every blank and begins and ends at whole words."""
    text, offsets = drawn
    whole = embedded.preparer(max_tokens=MANY).prepare(text).sequence
    try:
        prepared = embedded.preparer(max_tokens=limit).prepare(text)
    except MasksTooFarApartError:
        assert whole.mask_positions[-1] - whole.mask_positions[0] + 1 > limit - 2
        return
    window = prepared.sequence
    special = embedded.tokenizer().special
    shift = whole.mask_positions[0] - window.mask_positions[0]
    inside = window.ids[1:-1]
    after = shift + len(window.ids) - 1  # where the whole encoding goes on

    assert len(window.ids) <= limit
    assert (special.cls, special.sep) == (window.ids[0], window.ids[-1])
    assert inside == whole.ids[1 + shift : 1 + shift + len(inside)]
    assert [special.mask] * len(offsets) == [window.ids[position] for position in window.mask_positions]
    assert whole.mask_positions == tuple(position + shift for position in window.mask_positions)
    assert prepared.truncated == (len(whole.ids) > limit)
    assert not embedded.vocabulary().continues(inside[0])
    assert not embedded.vocabulary().continues(whole.ids[after])


@given(st.integers(0, 300), st.integers(0, 300), st.integers(3, 128))
def test_window_takes_all_that_fits_of_whole_characters(before: int, after: int, limit: int) -> None:
    """Of a text of Chinese characters, each a token, the model sees as many as it can take."""
    text = "天" * before + "[MASK]" + "天" * after

    sequence = embedded.preparer(max_tokens=limit).prepare(text).sequence

    assert min(limit, before + after + 3) == len(sequence.ids)


@pytest.mark.parametrize("before", [10, 300])
def test_window_is_centred_when_both_sides_are_long_and_shifted_at_an_end(before: int) -> None:
    """The blank has as much context on both sides as there is."""
    prepared = embedded.preparer(max_tokens=43).prepare("天" * before + "[MASK]" + "天" * 300)

    assert {10: 11, 300: 21}[before] == prepared.sequence.mask_positions[0]


def test_window_cuts_no_word_at_its_edges() -> None:
    """A Latin word of several pieces is seen whole or not at all, on both sides."""
    word = "abcdefgh"
    pieces = len(embedded.tokenizer().encode(word).ids)
    text = f"{word} " * 20 + "[MASK]" + f" {word}" * 20
    for limit in range(3, 60):
        inside = embedded.preparer(max_tokens=limit).prepare(text).sequence.ids[1:-1]

        assert (len(inside) - 1) % pieces == 0


@given(st.sampled_from(["[CLS]", "[SEP]", "[PAD]", "[UNK]"]), PLAIN)
def test_typed_control_tokens_are_text(special: str, text: str) -> None:
    """Somebody who types [SEP] writes five characters; no control token enters the model's input that way."""
    sequence = embedded.preparer().prepare(f"{text}{special}[MASK]{special}").sequence
    control = embedded.tokenizer().special_ids - {embedded.tokenizer().special.unk}

    assert control.isdisjoint(sequence.ids[1 : sequence.mask_positions[0]])
    assert control.isdisjoint(sequence.ids[sequence.mask_positions[0] + 1 : -1])


@pytest.mark.parametrize(
    "text",
    [
        *("今天MASK好", "今天[MSAK]好", "今天[MAKS]好", "今天(MASK)好", "今天{mask}好", "今天[MASK好", "今天MASK]好"),
        *(
            "今天____好",
            "今天＿＿好",
            "今天□好",
            "今天[ ]好",
            "今天（）好",
            "今天【】好",
            "今天< mask >好",
            "[M A S K]",
        ),
    ],
)
def test_prepare_hints_at_the_spelling_when_something_looks_like_a_mask(text: str) -> None:
    """What people write when they mean a blank is told from a text without one."""
    with pytest.raises(MaskMisspeltError):
        embedded.preparer().prepare(text)


@pytest.mark.parametrize(
    "text", ["", " ", "今天天气真好。", "〇一二", "他说[CLS]", "a_b", "《书》（注）【评】", "x<y>z"]
)
def test_prepare_reports_a_missing_mask_when_nothing_looks_like_one(text: str) -> None:
    """A plain text is told to have no blank, without a guess at what was meant."""
    with pytest.raises(MaskMissingError):
        embedded.preparer().prepare(text)


@pytest.mark.parametrize("text", ["\ud800[MASK]", "[MASK]\udc00", "\ude00\ud83d[MASK]"])
def test_prepare_refuses_half_a_surrogate_pair(text: str) -> None:
    """What cannot travel back as UTF-8 is refused by name."""
    with pytest.raises(TextNotUnicodeError):
        embedded.preparer().prepare(text)


@pytest.mark.parametrize(
    ("text", "limits", "error", "facts"),
    [
        ("天" * 5 + "[MASK]", {"max_text_chars": 10}, TextTooLongError, {"limit": 10, "actual": 11}),
        ("[MASK]" * 3, {"max_masks": 2}, TooManyMasksError, {"limit": 2, "actual": 3}),
        ("[MASK]天天天[MASK]", {"max_tokens": 6}, MasksTooFarApartError, {"limit": 4, "actual": 5}),
    ],
)
def test_prepare_states_limit_and_actual_when_a_limit_is_passed(
    text: str, limits: dict[str, int], error: type[InvalidInputError], facts: dict[str, int]
) -> None:
    """An error of size carries the limit and what was sent, as numbers."""
    with pytest.raises(error) as caught:
        embedded.preparer(**limits).prepare(text)

    assert facts == caught.value.facts


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("天" * 4 + "[MASK]", {"max_text_chars": 10}),
        ("[MASK]" * 2, {"max_masks": 2}),
        ("[MASK]天天[MASK]", {"max_tokens": 6}),
    ],
)
def test_prepare_accepts_what_a_limit_just_allows(text: str, limits: dict[str, int]) -> None:
    """The limits are inclusive."""
    assert text == embedded.preparer(**limits).prepare(text).text


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("", Neighbour.NONE),
        ("天", Neighbour.NONE),
        ("a ", Neighbour.NONE),
        ("a，", Neighbour.NONE),
        ("a[MASK]", Neighbour.NONE),
        ("〇", Neighbour.NONE),
        ("①", Neighbour.NONE),
        ("✝", Neighbour.NONE),  # LATIN CROSS by name
        ("𠮷", Neighbour.NONE),
        ("👍", Neighbour.NONE),
        ("a", Neighbour.LATIN),
        ("É", Neighbour.LATIN),
        ("e\u0301", Neighbour.LATIN),  # one letter to a reader, and to a tokenizer that strips accents
        ("ｋ", Neighbour.LATIN),
        ("7", Neighbour.LATIN),
        ("７", Neighbour.LATIN),
        ("Ж", Neighbour.OTHER),
        ("か", Neighbour.OTHER),
    ],
)
def test_neighbour_of_classes_what_stands_to_the_left(before: str, expected: Neighbour) -> None:
    """Only a letter directly to the left, in the caller's own string, lets a word go on."""
    text = f"{before}[MASK]a"

    assert expected == neighbour_of(text, find_masks(text)[-1])


@pytest.mark.parametrize(("text", "expected"), [("𠮷野[MASK]", 1), ("𠮷𠮷[MASK]𠮷", 3), ("今天[MASK]", 0)])
def test_prepare_counts_characters_that_the_vocabulary_lacks(text: str, expected: int) -> None:
    """Characters that the model cannot read are counted in code points, on every side of the blanks."""
    assert expected == embedded.preparer().prepare(text).unknown_characters
