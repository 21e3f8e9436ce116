"""Where phrases meet a text, against trying every window by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.core.phrases import context_of, groups
from handler.core.text import find_masks
from tests.support.language import TINY, lexicon_of

WORDS = ("一心一意", "心猿意马", "一二三四", "三心二意", "四二三一心", "意马", "二三")
LEXICON = lexicon_of({word: at + 1 for at, word in enumerate(WORDS)}, TINY)
PIECES = st.lists(st.sampled_from([*"一二三四心意马", "，", " ", "[MASK]", "[MASK]"]), min_size=1, max_size=9)

Filling = dict[int, str]


def plain_windows(text: str) -> list[tuple[tuple[int, ...], int, str]]:
    """Return (blanks, shown characters, what fills them) of every window and entry, by trying all."""
    cells: list[str | int] = []
    at = 0
    for mask in find_masks(text):
        cells += [*text[at : mask.start].replace(" ", ""), mask.index]
        at = mask.end
    cells += text[at:].replace(" ", "")
    found = []
    for word in WORDS:
        for start in range(len(cells) - len(word) + 1):
            window = cells[start : start + len(word)]
            slots = tuple(cell for cell in window if isinstance(cell, int))
            shown = len(word) - len(slots)
            agrees = all(isinstance(cell, int) or cell == own for cell, own in zip(window, word, strict=True))
            known = all(own in TINY for cell, own in zip(window, word, strict=True) if isinstance(cell, int))
            ends = [(start - 1, start), (start + len(word), start + len(word) - 1)]
            cuts = any(
                0 <= outer < len(cells) and isinstance(cells[outer], int) and isinstance(cells[inner], int)
                for outer, inner in ends
            )
            credible = (len(word) <= 4 or 2 * shown > len(word)) and (shown >= 2 or not cuts)
            if slots and agrees and known and credible:
                fill = "".join(own for cell, own in zip(window, word, strict=True) if isinstance(cell, int))
                found.append((slots, shown, fill))
    return found


@given(PIECES.map("".join))
def test_groups_agree_with_trying_every_window(text: str) -> None:
    """The most blanks first, then the most shown; fillings that several windows agree on stand once."""
    windows = plain_windows(text)
    best = {slots: max(shown for other, shown, _ in windows if other == slots) for slots, _, _ in windows}
    taken: set[int] = set()
    expected = []
    for slots in sorted(best, key=lambda slots: (-len(slots), -best[slots], slots)):
        if taken.isdisjoint(slots):
            taken.update(slots)
            expected.append((slots, {fill for other, shown, fill in windows if (other, shown) == (slots, best[slots])}))

    found = groups(LEXICON, text, find_masks(text))

    assert expected == [
        (match.slots, {"".join(TINY[token_id] for token_id in row) for row in match.ids}) for match in found
    ]
    assert all(len({tuple(row) for row in match.ids}) == len(match.ids) for match in found)


@given(st.lists(PIECES.map("".join), min_size=2, max_size=2), st.data())
def test_equal_contexts_mean_equal_matches(texts: list[str], data: st.DataObject) -> None:
    """What a lexicon may read of a text is in the context, which is part of the cache key."""
    first = texts[0]
    second = data.draw(
        st.sampled_from([texts[1], first.replace(" ", ""), first.replace("，", "a"), "二马，，，" + first])
    )
    reach = LEXICON.longest - 1
    contexts = [context_of(text, find_masks(text), reach) for text in (first, second)]
    found = [
        [(match.slots, match.ids.tolist(), match.prior.tolist()) for match in groups(LEXICON, text, find_masks(text))]
        for text in (first, second)
    ]

    assert contexts[0] != contexts[1] or found[0] == found[1]


@pytest.mark.parametrize("blank", ["[MASK]", "［mask］", "【 MASK 】", "<mask>"])
@pytest.mark.parametrize("space", ["", " ", "\u3000", "\u200b", "\t"])
def test_groups_read_every_spelling_of_a_blank_and_spaces_between(blank: str, space: str) -> None:
    """一心 and two blanks are the idiom, however the blanks are written and set apart."""
    text = space.join(["一心", blank, blank])

    [match] = groups(LEXICON, text, find_masks(text))

    assert [TINY[token_id] for token_id in match.ids[0]] == ["一", "意"]


@pytest.mark.parametrize("text", ["一心，[MASK]意", "一心\n[MASK]意", "一心a[MASK]", "[MASK]龘", "心"])
def test_groups_find_nothing_across_what_no_phrase_has(text: str) -> None:
    """Punctuation, a line's end, Latin letters and characters of no entry end a window."""
    assert groups(LEXICON, text, find_masks(text)) == []


def test_groups_fill_one_blank_of_two_windows_once() -> None:
    """一心 before and 意马 after: both idioms complete the blank, and each filling stands once with its best count."""
    lexicon = lexicon_of({"一心一意": 8, "一二一心": 3, "二一心三": 2}, TINY, prior_weight=0.5)

    [match] = groups(lexicon, "一二[MASK]心三", find_masks("一二[MASK]心三"))

    assert [TINY[row[0]] for row in match.ids] == ["一"]
    assert match.prior[0] == pytest.approx(0.6931472)  # log(1 + 3) / 2
