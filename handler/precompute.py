"""Fills the cache table from a file of templates, one a line, so that the first caller already gets a cached answer.

usage: python -m handler.precompute FILE [--top-k N] [--parallel N] [--from LINE]

Through the same service and the same adapter as a request: the keys and the payloads are those that a request with the
same options looks for (the table is TIANKONG_CACHE_TABLE, the lifetime TIANKONG_CACHE_TTL_S). Lines that the table
already holds cost a read and no model run, so a run that was interrupted is simply started again; where it stopped is
also kept in FILE.progress, for the same file and the same model.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final, TextIO

from handler import bootstrap, settings
from handler.core.errors import CacheUnavailableError, ModelUnavailableError, TiankongError
from handler.core.requests import parse_direct
from handler.core.service import Service
from handler.core.types import FailedText
from handler.events import ContextDeadline

_LINES: Final = 25  # of one call: what DynamoDB takes in one write
_ATTEMPTS: Final = 6
_FIRST_PAUSE_S: Final = 0.2  # doubled after each attempt: a table on demand needs time to grow
_EVERY_S: Final = 2.0  # between two lines of progress


@dataclass(slots=True)
class Tally:
    """What became of the lines so far."""

    written: int = 0
    known: int = 0
    refused: list[tuple[int, str]] = field(default_factory=list)  # line and reason

    def add(self, other: Tally) -> None:
        """Add what became of a few more."""
        self.written += other.written
        self.known += other.known
        self.refused += other.refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Some lines of the file, with their numbers, the first being 1."""

    lines: tuple[tuple[int, str], ...]

    @property
    def last(self) -> int:
        """Return the number of the last line."""
        return self.lines[-1][0]


class Progress:
    """Where a run stopped, beside the file; only believed for the same file, model and options.

    Args:
        source: the file of templates.
        facts: what else the answers depend on.
    """

    def __init__(self, source: Path, facts: object) -> None:
        self._path = source.with_name(source.name + ".progress")
        self._mark = hashlib.sha256(source.read_bytes() + json.dumps(facts).encode()).hexdigest()

    def read(self) -> int:
        """Return the number of lines that are done."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            kept = json.loads(self._path.read_text(encoding="utf-8"))
            return int(kept["lines"]) if kept["mark"] == self._mark else 0
        return 0

    def write(self, lines: int) -> None:
        """Keep the number of lines that are done, whole or not at all."""
        new = self._path.with_name(self._path.name + ".new")
        new.write_text(json.dumps({"lines": lines, "mark": self._mark}), encoding="utf-8")
        new.replace(self._path)

    def finish(self) -> None:
        """Forget it: everything is done."""
        self._path.unlink(missing_ok=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 when every line is in the table, 1 when lines were refused or the table failed, 2 for misuse."""
    options = _parser().parse_args(arguments)
    try:
        # At the first sight: these templates are known to be frequent.
        chosen = replace(settings.load(), cache_admit_after=1)
        environment = bootstrap.start(chosen, patient=True)
        service = environment.service()
        facts = (chosen.cache_table, service.identity.digest, options.top_k)
        progress = Progress(options.file, facts)
    except (settings.SettingsError, CacheUnavailableError, ModelUnavailableError, OSError) as error:
        _say(str(error), sys.stderr)
        return 2
    done = max(progress.read(), options.first - 1)
    try:
        tally = fill(service, options.file, progress, done=done, parallel=options.parallel, top_k=options.top_k)
    except CacheUnavailableError as error:
        _say(f"{error} Start again to go on after line {progress.read()}.", sys.stderr)
        return 1
    except KeyboardInterrupt:
        _say(f"Stopped. Start again to go on after line {progress.read()}.", sys.stderr)
        return 1
    for line, reason in tally.refused:
        _say(f"line {line}: {reason}", sys.stderr)
    _say(f"{tally.written} written, {tally.known} known already, {len(tally.refused)} refused", sys.stdout)
    return 1 if tally.refused else 0


def fill(
    service: Service,
    source: Path,
    progress: Progress,
    *,
    done: int,
    parallel: int,
    top_k: int | None,
    out: TextIO | None = None,
) -> Tally:
    """Put the answers to all lines after the first ``done`` into the table.

    At most ``parallel`` chunks are under way and as many wait, however long the file is.

    Raises:
        CacheUnavailableError: the table kept failing.
    """
    total = max((number for number, _ in _lines(source)), default=0)
    tally, started, told = Tally(), time.monotonic(), 0.0
    waiting: deque[tuple[Chunk, Future[Tally]]] = deque()
    chunks = _chunks(source, done)
    with ThreadPoolExecutor(parallel, thread_name_prefix="precompute") as pool:
        try:
            while True:
                for chunk in islice(chunks, 2 * parallel - len(waiting)):
                    waiting.append((chunk, pool.submit(_store, service, chunk, top_k)))
                if not waiting:
                    break
                chunk, result = waiting.popleft()
                tally.add(result.result())
                progress.write(chunk.last)  # in the order of the file: everything before is done
                if time.monotonic() - told > _EVERY_S or not waiting:
                    told = time.monotonic()
                    rate = (chunk.last - done) / max(told - started, 1e-9)
                    _say(f"{chunk.last} of {total} lines, {rate:.0f} a second", out or sys.stderr)
        finally:
            for _, result in waiting:
                result.cancel()
    progress.finish()
    return tally


def _store(service: Service, chunk: Chunk, top_k: int | None) -> Tally:
    """Ask the service for a few lines until the table took them all."""
    payload: dict[str, Any] = {"texts": [text for _, text in chunk.lines]}
    if top_k is not None:
        payload["top_k"] = top_k
    first: Tally | None = None
    for attempt in range(_ATTEMPTS):
        try:
            answer = service.answer(parse_direct(payload, service.limits), ContextDeadline(None))
        except TiankongError as error:  # of the request as a whole, such as a top_k beyond the limit
            return Tally(refused=[(line, str(error)) for line, _ in chunk.lines])
        refused = [
            (line, str(result.error))
            for (line, _), result in zip(chunk.lines, answer.results, strict=True)
            if isinstance(result, FailedText)
        ]
        # Of the first attempt: later ones find in memory what only the table lacked.
        first = first or Tally(
            written=len(chunk.lines) - len(refused) - answer.cache_hits, known=answer.cache_hits, refused=refused
        )
        if not answer.cache_faults:
            return first
        time.sleep(_FIRST_PAUSE_S * 2**attempt)
    raise CacheUnavailableError(problem=f"the table failed {_ATTEMPTS} times in a row")


def _lines(source: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty, with their numbers."""
    with source.open(encoding="utf-8-sig", newline="\n") as file:
        for number, line in enumerate(file, start=1):
            if text := line.strip():
                yield number, text


def _chunks(source: Path, done: int) -> Iterator[Chunk]:
    lines = ((number, text) for number, text in _lines(source) if number > done)
    while chunk := tuple(islice(lines, _LINES)):
        yield Chunk(lines=chunk)


def _say(text: str, stream: TextIO) -> None:
    stream.write(text + "\n")
    stream.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m handler.precompute",
        description="Fill the cache table from a file of templates. 把模板文件中的答案预先写入缓存表。",
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="templates, one a line / 每行一个模板")
    parser.add_argument("--top-k", type=int, metavar="N", help="candidates for each blank, as requests will ask for")
    parser.add_argument("--parallel", type=_positive, default=2, metavar="N", help="calls under way at once (2)")
    parser.add_argument("--from", dest="first", type=_positive, default=1, metavar="LINE", help="first line (1)")
    return parser


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return value


if __name__ == "__main__":
    sys.exit(main())
