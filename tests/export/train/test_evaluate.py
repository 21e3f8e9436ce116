"""Questions and scores; no model is needed."""

from export.train.clozes import ACCEPTANCE, IDIOMS_IN_CONTEXT
from export.train.evaluate import Question, _fitting, hidden_pairs, questions, score
from export.train.text import is_han
from export.train.tokenizer import MASK


def test_questions_hide_one_han_character_a_segment_and_never_differ() -> None:
    """The same seed for every model."""
    lines = ["今天天气真好。我们去公园吧！", "短。", ""]
    asked = questions(lines)
    assert asked == questions(lines)
    assert [question.text for question in asked] == [lines[0]]
    assert is_han(asked[0].answer)


def test_score_counts_the_first_and_the_first_five() -> None:
    """A right answer in second place counts in the second figure only."""
    asked = [Question("甲乙", 1), Question("丙丁", 1)]
    assert str(score([["乙"], ["甲", "丁"]], asked)).startswith("    2  top-1 0.500")
    assert score([["乙"], ["甲", "丁"]], asked).five == 2


def test_every_idiom_stands_in_its_sentence_and_every_cloze_has_one_mask() -> None:
    """The lists are written by hand."""
    assert all(sentence.count(idiom) == 1 and len(idiom) == 4 for sentence, idiom in IDIOMS_IN_CONTEXT)
    assert all(cloze.text.count(MASK) == 1 and cloze.among <= 5 for cloze in ACCEPTANCE)
    assert len(hidden_pairs()) == 3 * len(IDIOMS_IN_CONTEXT)


def test_fitting_idioms_are_those_that_match_what_is_shown() -> None:
    """With the higher frequency where two idioms leave the same gap."""
    frequency = {"半途而废": 88, "半夜而废": 3, "守株待兔": 5}
    assert _fitting(f"不能半{MASK}而{MASK}。", frequency) == {"途废": 88, "夜废": 3}
