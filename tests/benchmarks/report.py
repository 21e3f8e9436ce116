"""The results as Markdown.

usage: python -m tests.benchmarks.report [build/bench.json]
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.benchmarks.contenders import ALL, DIRECT, REFERENCE

# us-east-1, x86, without free tier: dollars for a GB-second and for a million requests.
_GB_SECOND: Final = 0.0000166667
_MILLION_REQUESTS: Final = 0.20
_MB_PER_THREAD: Final = 1769


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def ratio(base: Sequence[float], other: Sequence[float]) -> tuple[float, float, float]:
    """Return the median of the ratios turn by turn, and their quartiles."""
    ratios = [a / b for a, b in zip(base, other, strict=True)]
    if len(ratios) < 2:
        return ratios[0], ratios[0], ratios[0]
    low, middle, high = statistics.quantiles(ratios, n=4)
    return middle, low, high


def warm_table(times: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    """Tell medians in ms and how many times as fast as the reference design; for this project with quartiles."""
    lengths = list(next(iter(times.values())))
    base = times.get(REFERENCE.label)
    rows = []
    for label in (each.label for each in ALL if each.label in times):
        cells = []
        for length in lengths:
            cell = f"{statistics.median(times[label][length]):.1f}"
            if base:
                middle, low, high = ratio(base[length], times[label][length])
                cell += f" ({middle:.1f}×" + (f", {low:.1f}-{high:.1f})" if label == DIRECT.label else ")")
            cells.append(cell)
        rows.append([label, *cells])
    return table(["ms, warm", *(f"{length} tokens" for length in lengths)], rows)


def cold_table(results: Mapping[str, Any]) -> str:
    """Tell the median time to the first answer and its parts."""
    base = statistics.median(results[REFERENCE.label]["total_ms"]) if REFERENCE.label in results else None
    rows = []
    for label, each in results.items():
        total = statistics.median(each["total_ms"])
        share = f"{base / total:.1f}×" if base else ""
        parts = ", ".join(f"{name} {ms:.0f}" for name, ms in each["parts_ms"].items())
        rows.append([label, f"{total:.0f}", share, parts])
    return table(["cold start", "ms", "reference / it", "parts, ms"], rows)


def cost_per_million(ms: float, threads: int) -> float:
    """Return dollars for a million requests of so many milliseconds at the memory that buys so many threads."""
    gigabytes = threads * _MB_PER_THREAD / 1024
    return 1e6 * ms / 1000 * gigabytes * _GB_SECOND + _MILLION_REQUESTS


def operations(tokens: int) -> float:
    """Return the operations of the integer products of a text with one blank on a BERT-base.

    Twelve layers of 12 * 768² products a token, two operations each; in the last one, after queries, keys and values
    (a quarter of it), only the blank's row goes on.
    """
    whole_layers, last = 11 + 3 / 12, 9 / 12
    return 2 * 12 * 768**2 * (whole_layers * tokens + last)


def markdown(results: Mapping[str, Any]) -> str:
    """Return everything."""
    machine = results["machine"]
    seen = (
        f"{machine['processor']}, {machine['count']} processors: {' '.join(machine['features'])}. "
        f"onnxruntime {machine['onnxruntime']}, Python {machine['python']}, load at the start {machine['load']:.1f}."
    )
    parts = [seen]
    for network, by_threads in results["warm"].items():
        for threads, times in by_threads.items():
            parts += [f"### {network}, {threads} thread(s)", warm_table(times)]
    for network, cold in results["cold"].items():
        parts += [f"### {network}: process start to first answer", cold_table(cold)]
    if "agreement" in results:
        rows = [
            [label, f"{each['all']:.2%}", f"{each['clear']:.2%}", each["positions"]]
            for label, each in results["agreement"].items()
        ]
        parts += ["### agreement with fp32", table(["int8 contender", "all", "clear", "positions"], rows)]
    for name in ("memory", "sizes", "batches", "cache", "limits", "cost", "mixed", "operators"):
        if name in results:
            parts += [f"### {name}", "```json", json.dumps(results[name], ensure_ascii=False, indent=1), "```"]
    return "\n\n".join(parts)


if __name__ == "__main__":
    source = Path(sys.argv[1] if len(sys.argv) > 1 else "build/bench.json")
    print(markdown(json.loads(source.read_text(encoding="utf-8"))))
