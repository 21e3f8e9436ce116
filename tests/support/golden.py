"""Writes tests/unit/golden_tokens.jsonl: token ids by transformers' BertTokenizer, the reference of our tokenizer.

Needs the export extra (transformers). The vocabulary is the embedded artifact's; the texts are written or generated
here. Run it again when that vocabulary changes: ``python -m tests.support.golden``.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
MODEL: Final = ROOT / "layers" / "model"
FILE: Final = ROOT / "tests" / "unit" / "golden_tokens.jsonl"
COUNT: Final = 500

# What our tokenizer does differently from transformers, on purpose; every other text gives equal ids.
CHARACTER_MAP: Final = "character_map"  # curly quotes and dashes are read as the ones that the vocabulary has
TYPED_SPECIAL: Final = "typed_special"  # a typed [CLS] is five characters, not control

_MODERN = (
    "今天天气真好，我们一起去公园散步吧。",
    "他把书放在桌子上，然后就走了。",
    "北京是中国的首都，上海是最大的城市。",
    "请问这件衣服多少钱？——不，太贵了！",
    "会议定于二〇二六年十一月三十日举行；地点待定。",
    "“你来了？”她笑着问，‘嗯’是他唯一的回答。",
    "《红楼梦》是一部伟大的小说，【注】见下文。",
    "警方表示，案件仍在调查之中……",
    "繁體字與簡體字混排：龍龙、國国、愛爱。",
    "服务态度差，等了一个小时，再也不来了😡",
)
_CLASSICAL = (
    "床前明月光，疑是地上霜。举头望明月，低头思故乡。",
    "学而时习之，不亦说乎？有朋自远方来，不亦乐乎？",
    "关关雎鸠，在河之洲。窈窕淑女，君子好逑。",
    "落霞与孤鹜齐飞，秋水共长天一色。",
    "绿蚁新醅酒，红泥小火炉。晚来天欲雪，能饮一杯无？",
    "渭城朝雨浥轻尘，客舍青青柳色新。",
)
_LATIN = (
    "iPhone 15 Pro Max 售价 9999 元",
    "BERT-base-chinese 有 12 层、110M 参数",
    "访问 https://example.com/a?b=1&c=%E4%BD%A0 了解更多",
    "E-mail: someone@example.org，电话 010-6275 1234",
    "用 Python3.11 写了 print('你好')",
    "The quick brown fox jumps over the lazy dog",
    "CO2浓度为412.5ppm，pH=7.0，T≈36.6℃",
    "supercalifragilisticexpialidocious",
    "x" * 101,
    "ａｂｃＤＥＦ１２３",
)
_ODD = (
    "café naïve résumé Ångström",
    "cafe\u0301 n\u0303 e\u0302\u0323",
    "👍👍🏽 👨‍👩‍👧‍👦 🇨🇳 😂好",
    "𠮷野家 𪚥 㐀 䶵 鿿",
    "飏 醅 缲 欹 坼 曛 浥 蛩 帏 栊",
    "零\u200b宽\u200d字\ufeff符\u2060。",
    "控\x00制\x01字\x7f符\x1b[0m",
    "换\n行\r\n和\t制表\u3000全角空格\u00a0不断行",
    "行\u2028分\u2029隔",
    "שלום عربى \u202eRTL\u202c 中文",
    "かな カナ ハングル 한국어",
    "ﬁ①㎡℃½ Ⅳ ² ㍿",
    "！＂＃＄％＆＇（）＊＋，－．／：；＜＝＞？",
    "\ufffd替\ufffd换",
    "",
    "   ",
    "。",
    "##ing ## # ＃＃",
    "[unused1] [abc] [ MASK",
    "İstanbul ΣΊΣΥΦΟΣ ßtraße ЖЁЖ",
    "—",
    "…",
    "a—b“c”d‘e’f",
)
_SPECIALS = ("[CLS]", "[SEP]", "[PAD]", "[UNK]")
_POOLS = (
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多",
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "0123456789",
    "，。！？；：、（）《》·%&+-*/=.,!?'\"",
    "０１２３ＡＢｃｄ％＋",
    "éèüñçÅøœßİı\u0301\u0323",
    "😀👍🔥\U0001f9d1\u200d\U0001f680㊗♥☆",
    "𠀀𠮷𪜀㐂鿃飏醅浥鱻靐齉",
    " \t\n\r\u3000\u00a0\u2003",
    "\x00\x08\x7f\u200b\u200e\ufeff\ufffd\u2028",
    "あカ한жΩא",
)


def texts() -> list[str]:
    """Return the texts: first those written by hand, then mixtures of them, always the same."""
    chance = random.Random(20261130)
    written = [*_MODERN, *_CLASSICAL, *_LATIN, *_ODD]
    unique = dict.fromkeys([*written, *(f"他说{special}是什么" for special in _SPECIALS)])
    mixtures = _mixtures(chance, written)
    while len(unique) < COUNT:
        unique[next(mixtures)] = None
    return list(unique)


def _mixtures(chance: random.Random, written: list[str]) -> Iterator[str]:
    while True:
        parts = []
        for _ in range(chance.randint(1, 4)):
            if chance.random() < 0.3:
                sentence = chance.choice(written)
                start = chance.randint(0, max(0, len(sentence) - 4))
                parts.append(sentence[start : start + chance.randint(2, 16)])
            else:
                parts.append("".join(chance.choices(chance.choice(_POOLS), k=chance.randint(1, 8))))
            if chance.random() < 0.25:
                parts.append("[MASK]")
            elif chance.random() < 0.04:
                parts.append(chance.choice(_SPECIALS))
        yield "".join(parts)


def deviation(text: str, character_map: dict[str, str]) -> str | None:
    """Name what our tokenizer reads differently in this text, if anything."""
    if any(special in text for special in _SPECIALS):
        return TYPED_SPECIAL
    return CHARACTER_MAP if any(character in text for character in character_map) else None


def as_we_read_it(text: str, character_map: dict[str, str]) -> str:
    """Return a text of which the reference makes what our tokenizer makes of this one."""
    for special in _SPECIALS:
        text = text.replace(special, f"[ {special[1:-1]} ]")  # BERT splits at brackets anyway
    return "".join(character_map.get(character, character) for character in text)


def main() -> None:
    """Write the file: of each text the reference's ids and, where we deviate, the ids that we mean."""
    from transformers import BertTokenizer

    vocabulary: dict[str, int] = json.loads((MODEL / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    character_map: dict[str, str] = json.loads((MODEL / "manifest.json").read_text("utf-8"))["character_map"]
    reference = BertTokenizer(vocab=vocabulary, do_lower_case=True)
    with FILE.open("w", encoding="utf-8", newline="\n") as file:
        for text in texts():
            line: dict[str, Any] = {"text": text, "ids": reference(text)["input_ids"]}
            if kind := deviation(text, character_map):
                line["deviation"] = kind
                line["ours"] = reference(as_we_read_it(text, character_map))["input_ids"]
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
