"""Filling the cache, with a cache in memory in place of the table."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from handler import bootstrap, precompute
from handler.adapters.memory_cache import MemoryCache
from handler.core.errors import CacheUnavailableError, ModelUnavailableError
from handler.core.ports import CacheEntry
from handler.core.service import Service
from handler.precompute import Progress, Tally, fill
from handler.settings import Settings
from tests.support.doubles import FailingCache, RecordingCache
from tests.support.embedded import service

LINES = [f"第{number}[MASK]。" for number in range(60)]


class MendingCache(RecordingCache):
    """Refuses the first writes, as a table on demand does that has to grow."""

    def __init__(self, refusals: int) -> None:
        super().__init__(MemoryCache(ttl_s=60))
        self._refusals = refusals

    def write(self, entries: Mapping[str, CacheEntry]) -> None:
        """See handler.core.ports.ResultCache."""
        if self._refusals:
            self._refusals -= 1
            raise CacheUnavailableError(problem="throttled")
        super().write(entries)


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits in a test."""
    monkeypatch.setattr(precompute, "_FIRST_PAUSE_S", 0.0)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file of templates."""
    path = tmp_path / "poems.txt"
    path.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return path


def run(target: Service, file: Path, *, done: int = 0, top_k: int | None = None) -> tuple[Tally, str]:
    """Fill, and return what became of the lines and what was told on the way."""
    told = io.StringIO()
    progress = Progress(file, "facts")
    return fill(target, file, progress, done=done, parallel=2, top_k=top_k, out=told), told.getvalue()


def patient(shared: RecordingCache | FailingCache) -> Service:
    """Return a service as the command has it: everything goes to the table at the first sight."""
    return service(shared=shared, local=MemoryCache(ttl_s=60), admit_after=1)


def test_fill_writes_every_line_once(file: Path) -> None:
    """And says how far it is."""
    table = RecordingCache(MemoryCache(ttl_s=60))
    tally, told = run(patient(table), file)

    assert (tally.written, tally.known, tally.refused) == (60, 0, [])
    assert sum(len(write) for write in table.writes) == 60
    assert "60 of 60 lines" in told


def test_fill_writes_nothing_that_the_table_has(file: Path) -> None:
    """A second process finds every line, and runs no model."""
    table = RecordingCache(MemoryCache(ttl_s=60))
    run(patient(table), file)
    table.writes.clear()
    tally, _ = run(patient(table), file)

    assert (tally.written, tally.known) == (0, 60)
    assert table.writes == []


def test_fill_begins_after_what_is_done(file: Path) -> None:
    """Only the rest of the file is asked for."""
    table = RecordingCache(MemoryCache(ttl_s=60))
    tally, _ = run(patient(table), file, done=50)

    assert tally.written == 10


def test_fill_repeats_what_the_table_refused(file: Path) -> None:
    """A write that failed is made good: everything is in the table in the end."""
    table = MendingCache(refusals=3)
    tally, _ = run(patient(table), file)

    assert tally.written == 60
    assert len({key for write in table.writes for key in write}) == 60


def test_fill_gives_up_on_a_table_that_keeps_failing(file: Path) -> None:
    """With an error, and without having told that anything is done."""
    with pytest.raises(CacheUnavailableError, match="times in a row"):
        run(patient(FailingCache()), file)
    assert Progress(file, "facts").read() == 0


def test_fill_names_the_lines_that_have_no_answer(file: Path) -> None:
    """By their numbers in the file, empty lines counted."""
    file.write_text(f"\n没有空\n{LINES[0]}\n", encoding="utf-8")
    tally, _ = run(patient(RecordingCache(MemoryCache(ttl_s=60))), file)

    assert [line for line, _ in tally.refused] == [2]
    assert tally.written == 1


def test_fill_refuses_options_that_no_request_may_have(file: Path) -> None:
    """Each line with the reason, instead of an exception."""
    tally, _ = run(patient(RecordingCache(MemoryCache(ttl_s=60))), file, top_k=1_000_000)

    assert len(tally.refused) == 60


def test_progress_is_believed_for_the_same_file_and_facts_only(file: Path) -> None:
    """Another model has other keys; another file has other lines."""
    Progress(file, "facts").write(25)
    same, other = Progress(file, "facts").read(), Progress(file, "other").read()
    file.write_text("changed", encoding="utf-8")

    assert (same, other, Progress(file, "facts").read()) == (25, 0, 0)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"lines": "x"}'])
def test_progress_survives_a_damaged_file(file: Path, text: str) -> None:
    """The worst that it can cost is doing the work again."""
    file.with_name("poems.txt.progress").write_text(text, encoding="utf-8")

    assert Progress(file, "facts").read() == 0


def environment(loaded: Service | ModelUnavailableError) -> bootstrap.Environment:
    """Return a real environment with another service."""
    return replace(bootstrap.start(Settings()), loaded=loaded)


def test_main_reports_and_forgets_its_progress(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was written on standard output; nothing is left beside the file."""
    ready = environment(patient(RecordingCache(MemoryCache(ttl_s=60))))
    monkeypatch.setattr(bootstrap, "start", lambda *_, **__: ready)
    code = precompute.main([str(file), "--parallel", "1", "--from", "11"])

    assert code == 0
    assert "50 written, 0 known already, 0 refused" in capsys.readouterr().out
    assert list(file.parent.iterdir()) == [file]


def test_main_says_where_it_goes_on(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the table gone under way, and after an interruption."""
    ready = environment(patient(FailingCache()))
    monkeypatch.setattr(bootstrap, "start", lambda *_, **__: ready)
    Progress(file, (None, ready.service().identity.digest, None)).write(25)
    gone = precompute.main([str(file)])

    def interrupted(*_: object, **__: object) -> Tally:
        raise KeyboardInterrupt

    monkeypatch.setattr(precompute, "fill", interrupted)
    stopped = precompute.main([str(file)])

    assert (gone, stopped) == (1, 1)
    assert capsys.readouterr().err.count("after line 25") == 2


def test_main_names_refused_lines(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file is worth a look then."""
    file.write_text(json.dumps("没有空"), encoding="utf-8")
    ready = environment(patient(RecordingCache(MemoryCache(ttl_s=60))))
    monkeypatch.setattr(bootstrap, "start", lambda *_, **__: ready)

    assert precompute.main([str(file)]) == 1
    assert "line 1: " in capsys.readouterr().err


def test_main_needs_a_table(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """There is nothing to fill without one."""
    assert precompute.main([str(file)]) == 2
    assert "TIANKONG_CACHE_TABLE" in capsys.readouterr().err


def test_main_refuses_no_workers(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Misuse is explained."""
    with pytest.raises(SystemExit):
        precompute.main([str(file), "--parallel", "0"])
    assert "must be 1 or more" in capsys.readouterr().err
