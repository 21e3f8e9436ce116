"""Resident memory over many direct events of mixed length.

usage: python -m tests.benchmarks.memory [--events N] [--cache on|off]
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
from typing import Any, Final

import psutil

SETTLED: Final = 200  # events after which the level counts
_CHARACTERS: Final = (
    "的一是了我不人在他有这个上们来到时大地为子中你说生国年着就那和要她出也得里后自以会家可下而过天去能对小多"
)


def event(number: int, chance: random.Random) -> dict[str, Any]:
    """Make one event: 1 to 400 characters, 1 to 4 masks, at times a batch or targets."""

    def text() -> str:
        words = [chance.choice(_CHARACTERS) for _ in range(chance.choice((1, 8, 20, 60, 110, 400)))]
        for _ in range(chance.randint(1, 4)):
            words.insert(chance.randint(0, min(len(words), 100)), "[MASK]")
        return "".join(words)

    if number % 10 == 0:
        return {"texts": [text() for _ in range(chance.randint(2, 8))], "top_k": chance.randint(1, 50)}
    if number % 10 == 1:
        return {"text": text(), "targets": ["好", "大", "天"]}
    return {"text": text()}


def measure(events: int, *, cache: bool) -> dict[str, float]:
    """Send the events; return resident MiB after the first 200 and at the end.

    Raises:
        RuntimeError: an event was answered with an error.
    """
    os.environ["TIANKONG_CACHE_TTL_S"] = "86400" if cache else "0"
    with contextlib.redirect_stdout(io.StringIO()):
        from handler.entry import lambda_handler
    process, chance = psutil.Process(), random.Random(7)
    level = 0.0
    for number in range(events):
        with contextlib.redirect_stdout(io.StringIO()):
            answer = lambda_handler(event(number, chance), None)
        if "error" in answer or any("error" in result for result in answer["results"]):
            raise RuntimeError(f"event {number} was answered with an error")
        if number + 1 == SETTLED:
            level = process.memory_info().rss / 2**20
    end = process.memory_info().rss / 2**20
    return {"events": events, "settled_mib": round(level, 2), "end_mib": round(end, 2), "growth": end / level - 1}


def main() -> int:
    """Measure and print one JSON line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=2_000)
    parser.add_argument("--cache", choices=["on", "off"], default="on")
    options = parser.parse_args()
    print(json.dumps({"cache": options.cache, **measure(options.events, cache=options.cache == "on")}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
