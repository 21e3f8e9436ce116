"""Held-out documents."""

from collections import Counter

from export.train.corpus import assembled, leaks
from export.train.sources import Document
from export.train.split import fingerprints, part_of

HELD_OUT = next(
    text for text in (f"第{n}首，白日依山尽，黄河入海流。" for n in range(10_000)) if part_of(text) == "heldout"
)


def test_the_part_is_a_function_of_the_text_and_about_three_in_a_thousand_are_held_out() -> None:
    """Pinned, because figures of different models compare only on the same documents."""
    parts = Counter(part_of(f"文{n}") for n in range(20_000))
    assert 40 <= parts["heldout"] <= 80
    assert 8 <= parts["dev"] <= 35
    assert part_of("文0") == part_of("文0")


def test_fingerprints_are_long_sentences_without_punctuation() -> None:
    """Short sentences recur in unrelated documents and identify none."""
    assert fingerprints("白日依山尽，黄河入海流。好。") == {"白日依山尽黄河入海流"}


def test_documents_that_repeat_a_held_out_sentence_are_not_trained_on() -> None:
    """Neither as a sentence of another poem nor inside a longer sentence of an explanation."""
    poem = HELD_OUT
    second_printing = Document("famous", poem.replace("。", "！") + "欲穷千里目，更上一层楼！")
    quotation = Document("idiom", f"唐诗有云：{poem}可见一斑。")
    other = Document(
        "poem", next(t for t in ("春眠不觉晓，处处闻啼鸟。" * n for n in range(1, 50)) if part_of(t) == "train")
    )
    corpus = assembled([Document("poem", poem), other], [second_printing, quotation], [])
    assert corpus.parts["heldout"]["poem"] == [poem]
    assert corpus.parts["train"] == {"poem": [other.text], "famous": [], "idiom": []}
    assert corpus.dropped == {"poem": 0, "famous": 1, "idiom": 1}
    assert leaks(corpus) == []
