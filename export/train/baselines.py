"""What a model must beat: the commonest character, character bigrams, and a lexicon of words by frequency."""

import collections
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol

from export.train.text import is_han

TOP: Final = 5


class Guesser(Protocol):
    """Anything that guesses the character at one place of a text from the others."""

    def guess(self, text: str, at: int) -> Sequence[str]:
        """The five likeliest characters for text[at], best first; text[at] itself must not be looked at."""
        ...


class Bigrams:
    """The product of the two bigram probabilities around the place, with add-k smoothing."""

    def __init__(self, texts: Iterable[str], smoothing: float = 0.1) -> None:
        """Count neighbouring characters in the training text."""
        self.single: collections.Counter[str] = collections.Counter()
        self.after: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
        self.before: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
        self.smoothing = smoothing
        for text in texts:
            self.single.update(text)
            for left, right in itertools.pairwise(text):
                self.after[left][right] += 1
                self.before[right][left] += 1
        self.common = [character for character, _ in self.single.most_common(200) if is_han(character)]

    def guess(self, text: str, at: int) -> Sequence[str]:
        """Candidates are the characters seen beside either neighbour; the commonest ones fill up."""
        left = text[at - 1] if at else ""
        right = text[at + 1] if at + 1 < len(text) else ""
        nothing: collections.Counter[str] = collections.Counter()
        follow, precede = self.after.get(left, nothing), self.before.get(right, nothing)

        def score(character: str) -> float:
            count = self.single[character]
            forward = math.log(follow[character] + self.smoothing)
            return forward + math.log(precede[character] + self.smoothing) - math.log(count + 1)

        candidates = {character for character in (*follow, *precede) if is_han(character)}
        ranked = sorted(candidates, key=lambda character: (-score(character), character))
        return list(dict.fromkeys([*ranked[:TOP], *self.common]))[:TOP]


class Lexicon:
    """The likeliest character by the words that fit around the place: longest word first, then the most frequent."""

    def __init__(self, frequencies: Mapping[str, int], longest: int = 4) -> None:
        """Index words of two to longest characters by what is left of them when one character is hidden."""
        self.longest = longest
        self.fitting: dict[tuple[str, str], list[tuple[int, str]]] = collections.defaultdict(list)
        single: collections.Counter[str] = collections.Counter()
        for word, frequency in frequencies.items():
            if 2 <= len(word) <= longest and all(map(is_han, word)):
                for at, hidden in enumerate(word):
                    self.fitting[word[:at], word[at + 1 :]].append((-frequency, hidden))
                    single[hidden] += frequency
        for found in self.fitting.values():
            found.sort()
        self.common = [character for character, _ in single.most_common(TOP)]

    def guess(self, text: str, at: int) -> Sequence[str]:
        """Guesses of longer words come before those of shorter ones."""
        found: dict[str, None] = {}
        for length in range(self.longest, 1, -1):
            fitting = []
            for start in range(max(0, at - length + 1), min(at, len(text) - length) + 1):
                fitting += self.fitting.get((text[start:at], text[at + 1 : start + length]), [])
            found |= {hidden: None for _, hidden in sorted(fitting)}
        return list(dict.fromkeys([*found, *self.common]))[:TOP]


def words_with_frequency(lines: Iterable[str]) -> dict[str, int]:
    """Read lines of a word and its frequency, separated by white space, as in jieba's dictionary."""
    return {word: int(frequency) for word, frequency, *_ in (line.split() for line in lines)}
