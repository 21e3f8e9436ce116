"""The measurements. Everything that is compared takes turns in one run."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from export.evaluation.clozes import read_clozes
from export.positions import masked_texts
from tests.benchmarks.contenders import DIRECT, IMPORTS, REFERENCE, TORCH, Contender, Running
from tests.benchmarks.texts import text_of

_BURST: Final = 4  # texts in a turn; the first one is not counted, since the one before left the caches cold
_CLEAR: Final = 0.05  # difference of fp32's best two probabilities

Folders = Mapping[str, Path]
Times = dict[str, dict[int, list[float]]]  # medians of the turns in ms, by label and number of tokens


def warm(
    contenders: Sequence[Contender], folders: Folders, threads: int, lengths: Iterable[int], rounds: int
) -> tuple[Times, dict[str, Any]]:
    """Time single texts; return the times, and each contender's memory afterwards."""
    chance = random.Random(1)
    lengths = list(lengths)
    times: Times = {each.label: {length: [] for length in lengths} for each in contenders}
    with ExitStack() as stack:
        running = [stack.enter_context(Running(each, folders, threads)) for each in contenders]
        for each in running:  # pools, arenas and code paths of every length
            for length in lengths:
                each.answers([text_of(length, chance) for _ in range(2)])
        for _ in range(rounds):
            for length in lengths:
                texts = [text_of(length, chance) for _ in range(_BURST)]
                chance.shuffle(running)
                for each in running:
                    took, _ = each.answers(texts)
                    times[each.contender.label][length].append(statistics.median(took[1:]))
                    time.sleep(each.contender.pause_s)
        memory = {each.contender.label: each.ask({"memory": True}) for each in running}
    return times, memory


def cold(contenders: Sequence[Contender], folders: Folders, threads: int, rounds: int) -> dict[str, Any]:
    """Time from the start of the process to its first answer, and the parts of that."""
    chance = random.Random(2)
    totals: dict[str, list[float]] = {each.label: [] for each in contenders}
    parts: dict[str, list[dict[str, float]]] = {each.label: [] for each in contenders}
    order = list(contenders)
    for _ in range(rounds):
        chance.shuffle(order)
        for each in order:
            with Running(each, folders, threads) as running:
                [first], _ = running.answers([text_of(16, chance)])
                totals[each.label].append((time.perf_counter() - running.started) * 1000)
                parts[each.label].append(running.parts | {"first answer": first})
    return {
        label: {
            "total_ms": totals[label],
            "parts_ms": {name: statistics.median(each[name] for each in runs) for name in runs[0]},
        }
        for label, runs in parts.items()
    }


def memory_of_imports(folders: Folders) -> dict[str, float]:
    """Return the memory of a process that has imported onnxruntime, numpy and tokenizers, and nothing else."""
    with Running(IMPORTS, folders, 1) as running:
        answer: dict[str, float] = running.ask({"memory": True})
        return answer


def batches(folders: Folders, threads: int, sizes: Sequence[int], rounds: int) -> dict[str, dict[int, float]]:
    """Return milliseconds for each text in batches of texts of 32 tokens."""
    chance = random.Random(3)
    times: dict[str, dict[int, list[float]]] = {
        each.label: {size: [] for size in sizes} for each in (DIRECT, REFERENCE)
    }
    with ExitStack() as stack:
        running = [stack.enter_context(Running(each, folders, threads)) for each in (DIRECT, REFERENCE)]
        for _ in range(rounds):
            for size in sizes:
                batch = [text_of(32, chance) for _ in range(size)]
                for each in running:
                    [_, took] = each.ask({"batches": [batch[:1], batch]})["ms"]
                    times[each.contender.label][size].append(took / size)
                    time.sleep(each.contender.pause_s)
    return {label: {size: statistics.median(took) for size, took in each.items()} for label, each in times.items()}


def memory_hits(folders: Folders, threads: int, texts: int) -> float:
    """Return the median milliseconds of a direct event that the process memory answers."""
    chance = random.Random(4)
    asked = [text_of(32, chance) for _ in range(texts)]
    with Running(DIRECT, folders, threads, {"TIANKONG_CACHE_TTL_S": "3600"}) as running:
        running.answers(asked)
        took, _ = running.answers(asked)
    return statistics.median(took)


def table_hits(folders: Folders, threads: int, texts: int, variables: Mapping[str, str]) -> tuple[float, float]:
    """Return the median milliseconds with and without the table: one process fills it, another reads it.

    Args:
        folders: of the network.
        threads: of one run.
        texts: how many.
        variables: that name the table and its server.
    """
    chance = random.Random(5)
    asked = [text_of(128, chance) for _ in range(texts)]
    caching = {"TIANKONG_CACHE_TTL_S": "3600", "TIANKONG_CACHE_ADMIT_AFTER": "1", **variables}
    with Running(DIRECT, folders, threads, caching) as filling:
        filling.answers(asked)
    caching["TIANKONG_CACHE_READ_MS"] = "100"  # what a hit takes is the question, not whether it is worth it
    with Running(DIRECT, folders, threads, caching) as reading, Running(DIRECT, folders, threads) as without:
        without.answers(asked[:5])
        hits, _ = reading.answers(asked)
        runs, _ = without.answers(asked)
    return statistics.median(hits), statistics.median(runs)


def agreement(contenders: Sequence[Contender], folders: Folders, positions: int) -> dict[str, dict[str, float]]:
    """Compare the best candidate of each int8 contender with that of torch in fp32, on the project's own sentences.

    Shares over all positions, and over those where torch's best two differ by 0.05 or more.
    """
    texts = [masked.text for masked in masked_texts(read_clozes(), positions)]
    with Running(TORCH, folders, 1) as torch:
        answer = torch.ask({"texts": texts, "second": True})
        wanted = [token for token, _ in answer["first"]]
        clear = [a[1] - b[1] >= _CLEAR for a, b in zip(answer["first"], answer["second"], strict=True)]
    shares = {}
    for each in contenders:
        with Running(each, folders, 1) as running:
            given = running.answers(texts)[1]
        same = [a == b for a, b in zip(given, wanted, strict=True)]
        shares[each.label] = {
            "positions": len(texts),
            "all": statistics.mean(same),
            "clear": statistics.mean(hit for hit, counts in zip(same, clear, strict=True) if counts),
        }
    return shares
