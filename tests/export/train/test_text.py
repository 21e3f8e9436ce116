"""Cleaning and cutting."""

from export.train.text import half_width, normalised, segments, sentences, without_remarks, without_space


def test_normalised_keeps_the_length_so_that_offsets_stay_right() -> None:
    """Curly quotes and dashes become single plain characters."""
    typed = "“Ａ”是‘B’——C"
    assert normalised(typed) == "\"ａ\"是'b'--c"
    assert len(normalised(typed)) == len(typed)


def test_half_width_changes_digits_and_letters_only() -> None:
    """Chinese punctuation is full width and must stay."""
    assert half_width("１９９８年，ＧＤＰ（ｂ）") == "1998年，GDP（b）"


def test_space_and_remarks_go() -> None:
    """Editors' remarks in poems are not poetry."""
    assert without_remarks(without_space("白日 依山\u3000盡（一作曰）。")) == "白日依山盡。"


def test_sentences_lose_nothing() -> None:
    """The cut text joined again is the text."""
    text = "好吗？好！我去；你呢"
    assert sentences(text) == ["好吗？", "好！", "我去；", "你呢"]


def test_segments_are_whole_sentences_up_to_the_limit() -> None:
    """A sentence longer than the limit is cut short, as in the first evaluation script."""
    assert list(segments("一二三。四五。六七八九十一二三四", limit=8)) == ["一二三。四五。", "六七八九十一二三"]
