"""Counting."""

from export.train.baselines import Bigrams, Lexicon, words_with_frequency


def test_bigrams_look_at_both_neighbours() -> None:
    """The character between 北 and 人 is the one seen there, not the commonest."""
    assert Bigrams(["北京人北京人北方山山山山"]).guess("北?人", 1)[0] == "京"


def test_bigrams_always_give_han_characters() -> None:
    """At an end, beside the unknown, the commonest ones."""
    assert Bigrams(["山山水。"]).guess("?", 0) == ["山", "水"]


def test_the_lexicon_prefers_the_longest_then_the_most_frequent_word() -> None:
    """An idiom beats a word of two."""
    lexicon = Lexicon(words_with_frequency(["半途而废 8 i", "而且 900 c", "而立 20 v"]))
    assert lexicon.guess("半途而?", 3) == ["废", "且", "立", "而", "半"]
    assert lexicon.guess("而?", 1)[:2] == ["且", "立"]
