"""A checkpoint's WordPiece vocabulary, and the tokenizer.json that the service reads.

The file is written anew from the vocabulary instead of copied: checkpoints come with a vocab.txt only, with options
that their own vocabulary contradicts, or with none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tokenizers import Tokenizer

from export.architecture import Architecture
from export.errors import TokenizerError

TOKENIZER_FILE: Final = "tokenizer.json"
SPECIAL: Final = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
_PIECE_LIMIT: Final = 100  # characters of a word, beyond which BERT gives up and says [UNK]


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """Tokens in the order of their ids, and how text is prepared for them."""

    tokens: tuple[str, ...]
    lowercase: bool
    strip_accents: bool | None  # None: as lowercase
    split_han: bool

    @property
    def special_ids(self) -> Mapping[str, int]:
        """The ids of the control tokens by their role."""
        ids = {token: token_id for token_id, token in enumerate(self.tokens)}
        return {role: ids[token] for role, token in SPECIAL.items()}

    def tokenizer_json(self, character_map: Mapping[str, str]) -> str:
        """Return the file's text.

        Args:
            character_map: characters that the model should read as others, one for one, so that offsets hold.
        """
        ids = self.special_ids
        bert = {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": self.split_han,
            "strip_accents": self.strip_accents,
            "lowercase": self.lowercase,
        }
        replacements: list[dict[str, Any]] = [
            {"type": "Replace", "pattern": {"String": old}, "content": new} for old, new in character_map.items()
        ]
        control = [
            {
                "id": ids[role],
                "content": token,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for role, token in sorted(SPECIAL.items(), key=lambda item: ids[item[0]])
        ]
        return json.dumps(
            {
                "version": "1.0",
                "truncation": None,
                "padding": None,
                "added_tokens": control,
                "normalizer": {"type": "Sequence", "normalizers": [*replacements, bert]} if replacements else bert,
                "pre_tokenizer": {"type": "BertPreTokenizer"},
                "post_processor": _template(ids),
                "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": False},
                "model": {
                    "type": "WordPiece",
                    "unk_token": SPECIAL["unk"],
                    "continuing_subword_prefix": "##",
                    "max_input_chars_per_word": _PIECE_LIMIT,
                    "vocab": {token: token_id for token_id, token in enumerate(self.tokens)},
                },
            },
            ensure_ascii=False,
            separators=(",", ":"),
        )

    def tokenizer(self, character_map: Mapping[str, str]) -> Tokenizer:
        """Return the tokenizer itself."""
        return Tokenizer.from_str(self.tokenizer_json(character_map))


def read_vocabulary(folder: Path, architecture: Architecture) -> Vocabulary:
    """Read a checkpoint's vocabulary and see that it is the network's.

    Raises:
        TokenizerError: there is none, it is no WordPiece vocabulary, or it does not fit the network.
    """
    options = _options(folder)
    tokens = _tokens(folder)
    if len(tokens) != architecture.vocab_size:
        raise TokenizerError(
            f"the vocabulary has {len(tokens)} entries, but the network scores {architecture.vocab_size}."
        )
    if len(set(tokens)) != len(tokens):
        raise TokenizerError("the vocabulary has an entry twice.")
    absent = [token for token in SPECIAL.values() if token not in tokens]
    if absent:
        raise TokenizerError(f"the vocabulary lacks {', '.join(absent)}.")
    # The published configuration of bert-base-chinese says that case is kept, yet its vocabulary has no capital at all:
    # every English word with one would be [UNK].
    has_capitals = any("A" <= char <= "Z" for token in tokens for char in _plain(token))
    vocabulary = Vocabulary(
        tokens=tokens,
        lowercase=not has_capitals or bool(options.get("do_lower_case", False)),
        strip_accents=options.get("strip_accents"),
        split_han=bool(options.get("tokenize_chinese_chars", True)),
    )
    _check_round_trip(vocabulary)
    return vocabulary


def _plain(token: str) -> str:
    """A token without what is written in capitals by convention: control tokens such as [unused1], <S> and <T>."""
    return "" if token.startswith(("[", "<")) and len(token) > 2 else token


def _check_round_trip(vocabulary: Vocabulary) -> None:
    ids = vocabulary.special_ids
    encoded = vocabulary.tokenizer({}).encode(SPECIAL["mask"]).ids
    if encoded != [ids["cls"], ids["mask"], ids["sep"]]:
        raise TokenizerError(f"[MASK] is read as {encoded}, not as {ids['mask']} between [CLS] and [SEP].")


def _options(folder: Path) -> Mapping[str, Any]:
    try:
        options = json.loads((folder / "tokenizer_config.json").read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise TokenizerError(f"tokenizer_config.json cannot be read: {error}") from error
    return options if isinstance(options, dict) else {}


def _tokens(folder: Path) -> tuple[str, ...]:
    vocabulary_file, tokenizer_file = folder / "vocab.txt", folder / TOKENIZER_FILE
    try:
        if vocabulary_file.is_file():
            # Split at \n alone: two entries of the standard vocabulary hold U+2028, where str.splitlines() breaks too.
            return tuple(vocabulary_file.read_text(encoding="utf-8").removesuffix("\n").split("\n"))
        if tokenizer_file.is_file():
            return _tokens_of_json(json.loads(tokenizer_file.read_bytes()))
    except (OSError, ValueError) as error:
        raise TokenizerError(f"the vocabulary cannot be read: {error}") from error
    raise TokenizerError("the checkpoint has neither vocab.txt nor tokenizer.json.")


def _tokens_of_json(description: Mapping[str, Any]) -> tuple[str, ...]:
    model = description.get("model") or {}
    if model.get("type") != "WordPiece":
        raise TokenizerError(f"tokenizer.json is of type {model.get('type')!r}; only WordPiece is exported here.")
    ids: dict[str, int] = dict(model["vocab"])
    ids.update({token["content"]: token["id"] for token in description.get("added_tokens", ())})
    tokens = sorted(ids, key=ids.__getitem__)
    if [ids[token] for token in tokens] != list(range(len(tokens))):
        raise TokenizerError("the ids of tokenizer.json have gaps.")
    return tuple(tokens)


def _template(ids: Mapping[str, int]) -> Mapping[str, Any]:
    def special(token: str, type_id: int) -> Mapping[str, Any]:
        return {"SpecialToken": {"id": token, "type_id": type_id}}

    def sequence(name: str, type_id: int) -> Mapping[str, Any]:
        return {"Sequence": {"id": name, "type_id": type_id}}

    single: Sequence[Any] = [special("[CLS]", 0), sequence("A", 0), special("[SEP]", 0)]
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": [*single, sequence("B", 1), special("[SEP]", 1)],
        "special_tokens": {
            token: {"id": token, "ids": [ids[role]], "tokens": [token]}
            for role, token in (("cls", "[CLS]"), ("sep", "[SEP]"))
        },
    }
