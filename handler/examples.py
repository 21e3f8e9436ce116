"""What ``make run`` shows of a model when no text is given: a handful of sentences, with what should stand in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A sentence with one [MASK].

    ``memory`` says that the embedded model's training text contains the filled sentence, or the idiom, word for word:
    to fill it is to remember. The others are not in that text (``python -m export.train.evaluate`` checks both).
    """

    text: str
    answers: str  # characters that are right there
    kind: str
    memory: bool = False


EXAMPLES: Final = (
    Example(text="床前明月[MASK]，疑是地上霜。", answers="光", kind="诗 verse", memory=True),
    Example(text="海内存知[MASK]，天涯若比邻。", answers="己", kind="诗 verse", memory=True),
    Example(text="半途而[MASK]", answers="废", kind="成语 idiom", memory=True),
    Example(text="亡羊补[MASK]", answers="牢", kind="成语 idiom", memory=True),
    Example(text="学习要持之以[MASK]。", answers="恒", kind="成语 idiom in a sentence"),
    Example(text="今天天气真[MASK]啊。", answers="好冷热", kind="日常 everyday"),
    Example(text="他买了一[MASK]书。", answers="本", kind="量词 measure word"),
    Example(text="请给我一[MASK]水。", answers="杯瓶碗", kind="量词 measure word"),
    Example(text="中国的首都是北[MASK]。", answers="京", kind="常识 common knowledge"),
    Example(text="天空是蓝[MASK]的。", answers="色", kind="常识 common knowledge"),
    Example(text="他是一名医[MASK]。", answers="生", kind="常识 common knowledge"),
    Example(text="三加五等于[MASK]。", answers="八", kind="算术 arithmetic"),
)
