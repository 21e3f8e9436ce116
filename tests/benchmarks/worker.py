"""One contender in a process of its own, asked over standard input and output.

usage: python -m tests.benchmarks.worker JOB --model FOLDER [--threads N]

JOB is a module of tests.benchmarks.jobs. Only the standard library is imported here: what a job needs is part of its
cold start, and lives in whatever environment runs this.

The first line that comes back tells how long the parts of loading took. Then every line with {"texts": [...]} or
{"batches": [[...], ...]} is answered with {"ms": [...], "first": [...]}: the time of each, taken around the whole job
from text to ranked candidates, and the best candidate of each text.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

Candidates = Sequence[tuple[str, float]]  # best first


class Job(Protocol):
    """What a module of jobs provides as ``load(model, threads, watch)``."""

    def __call__(self, text: str) -> Candidates:
        """Answer one text with one [MASK]."""
        ...


class Stopwatch:
    """Milliseconds of the parts of loading.

    Like the function's own, whose import would be part of what is measured.
    """

    def __init__(self) -> None:
        self.parts: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Time a block."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.parts[name] = self.parts.get(name, 0.0) + (time.perf_counter() - start) * 1000


def memory() -> dict[str, float]:
    """Return resident and highest resident MiB of this process."""
    values = {}
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        if name in ("VmRSS", "VmHWM"):
            values[name] = int(value.split()[0]) / 1024
    return {"rss_mib": values["VmRSS"], "peak_mib": values["VmHWM"]}


def timed(call: Callable[[Any], Any], argument: object) -> tuple[float, Any]:
    """Return milliseconds and the result."""
    start = time.perf_counter()
    result = call(argument)
    return (time.perf_counter() - start) * 1000, result


def answered(job: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Do what one line asks."""
    if request.get("memory"):
        return memory()
    if "batches" in request:
        return {"ms": [timed(job.batch, batch)[0] for batch in request["batches"]]}
    results = [timed(job, text) for text in request["texts"]]
    answer = {"ms": [ms for ms, _ in results], "first": [candidates[0] for _, candidates in results]}
    if request.get("second"):
        answer["second"] = [candidates[1] for _, candidates in results]
    return answer


def main() -> None:
    """Load the job and answer until standard input ends."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    # Whatever libraries print goes elsewhere.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for the life of the process
    watch = Stopwatch()
    job = importlib.import_module(f"tests.benchmarks.jobs.{options.job}").load(options.model, options.threads, watch)
    print(json.dumps(watch.parts), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(answered(job, json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
