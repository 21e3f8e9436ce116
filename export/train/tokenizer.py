"""The vocabulary and the cutting of text into its entries.

    python -m export.train.tokenizer --corpus DIR --out FILE

One entry per Han character, so a mask is always one character; Latin and digits fall into single letters, continued
with ##. Entries for whole words would make the embedding, the largest matrix of a small model, larger still.
"""

import argparse
import collections
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from export.train.text import PLAIN_MARKS, normalised

PAD, UNKNOWN, START, END, MASK = "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"
SPECIAL: Final = (PAD, UNKNOWN, START, END, MASK)
PUNCTUATION: Final = "，。！？、；：,.!?;:()（）《》〈〉「」『』\"'-…·~%+*/=<>[]{}@#$&^_|\\`"
LATIN: Final = "abcdefghijklmnopqrstuvwxyz0123456789"
MIN_COUNT: Final = 6  # rarer characters become [UNK]
_WORD: Final = re.compile(r"[a-z0-9]+|\S")
_BY_WORDS: Final = re.compile(r"[a-z0-9\s]|[^\x00-\uffff]")


class Tokenizer:
    """Text to entry numbers, the same as the exported tokenizer.json on normalised text."""

    def __init__(self, entries: Sequence[str]) -> None:
        """Take the entries in the order of their numbers."""
        self.entries = tuple(entries)
        self.ids = {entry: number for number, entry in enumerate(self.entries)}
        self._table = np.full(0x10000, self.ids[UNKNOWN], np.int16)
        for entry, number in self.ids.items():
            if len(entry) == 1 and ord(entry) < 0x10000:
                self._table[ord(entry)] = number
        self.pad_id, self.unknown_id, self.start_id, self.end_id, self.mask_id = (self.ids[entry] for entry in SPECIAL)

    @classmethod
    def load(cls, path: Path) -> "Tokenizer":
        """Read a vocab.txt."""
        return cls(path.read_text(encoding="utf-8").removesuffix("\n").split("\n"))

    def save(self, path: Path) -> None:
        """Write a vocab.txt."""
        path.write_text("\n".join(self.entries) + "\n", encoding="utf-8")

    def encode(self, text: str) -> NDArray[np.int16]:
        """Entry numbers of a text, without the special entries at its ends; [MASK] in it is the mask."""
        text = text if MASK in text else normalised(text)
        if MASK not in text and not _BY_WORDS.search(text):  # nearly all Chinese text: one look-up a character
            return self._table[np.frombuffer(text.encode("utf-16-le"), np.uint16)]
        numbers: list[int] = []
        for index, piece in enumerate(text.split(MASK)):
            if index:
                numbers.append(self.mask_id)
            for word in _WORD.findall(normalised(piece)):
                numbers.append(self.ids.get(word[0], self.unknown_id))
                numbers += [self.ids.get("##" + letter, self.unknown_id) for letter in word[1:]]
        return np.array(numbers, np.int16)


def vocabulary(texts: Iterable[str], min_count: int = MIN_COUNT) -> list[str]:
    """Special entries, punctuation, letters, then the Han characters by falling frequency."""
    counts: collections.Counter[str] = collections.Counter()
    for text in texts:
        counts.update(normalised(text))
    fixed = [*SPECIAL, *dict.fromkeys(PUNCTUATION + LATIN), *("##" + letter for letter in LATIN)]
    han = [(-count, character) for character, count in counts.items() if "\u3400" <= character <= "\u9fff"]
    return fixed + [character for count, character in sorted(han) if -count >= min_count]


def save_for_transformers(tokenizer: Tokenizer, folder: Path, max_tokens: int) -> None:
    """Write vocab.txt, tokenizer.json and tokenizer_config.json."""
    from tokenizers import Tokenizer as Pipeline
    from tokenizers import decoders, normalizers, pre_tokenizers, processors
    from tokenizers.models import WordPiece

    tokenizer.save(folder / "vocab.txt")
    pipeline = Pipeline(WordPiece(dict(tokenizer.ids), unk_token=UNKNOWN, max_input_chars_per_word=100))
    # The training text had plain quotes and hyphens; people type curly ones, which would otherwise be [UNK]. One
    # character becomes one character, so offsets stay right.
    plain = [normalizers.Replace(typed, shown) for typed, shown in PLAIN_MARKS.items()]
    bert = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True)
    pipeline.normalizer = normalizers.Sequence([*plain, bert])
    pipeline.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    pipeline.decoder = decoders.WordPiece()
    pipeline.post_processor = processors.TemplateProcessing(
        single=f"{START} $A {END}",
        pair=f"{START} $A {END} $B:1 {END}:1",
        special_tokens=[(START, tokenizer.start_id), (END, tokenizer.end_id)],
    )
    pipeline.add_special_tokens(list(SPECIAL))
    pipeline.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",  # BertTokenizer would rebuild the pipeline without our marks
        "model_max_length": max_tokens,
        "model_input_names": ["input_ids", "token_type_ids", "attention_mask"],
        "unk_token": UNKNOWN,
        "sep_token": END,
        "pad_token": PAD,
        "cls_token": START,
        "mask_token": MASK,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Count the characters of the training text and write vocab.txt."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="vocab.txt to write")
    parser.add_argument("--min-count", type=int, default=MIN_COUNT)
    arguments = parser.parse_args()
    files = [*sorted(arguments.corpus.glob("train_*.txt")), arguments.corpus / "idioms.tsv"]
    entries = vocabulary((file.read_text(encoding="utf-8") for file in files), arguments.min_count)
    Tokenizer(entries).save(arguments.out)
    print(f"{len(entries)} entries in {arguments.out}")


if __name__ == "__main__":
    main()
