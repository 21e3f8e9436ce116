"""python -m handler.precompute against a real DynamoDB server."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.support import ministack
from tests.support.processes import python

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

TABLE = "templates"
LINES = [f"{poem}，第{number}[MASK]。" for poem in ("白日依山尽", "黄河入海流") for number in range(30)]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Yield the address of a server."""
    with ministack.running() as started:
        yield started


@pytest.fixture
def items(address: str) -> Iterator[Callable[[], int]]:
    """Make an empty table of the template's shape and yield what counts its items."""
    client = ministack.dynamodb(address)
    ministack.make_table(client, TABLE)
    yield lambda: client.scan(TableName=TABLE)["Count"]
    client.delete_table(TableName=TABLE)


@pytest.fixture
def environment(address: str) -> Mapping[str, str]:
    """Return the variables of a process that uses the table."""
    return {
        "AWS_ENDPOINT_URL_DYNAMODB": address,
        "AWS_DEFAULT_REGION": "eu-central-1",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_EC2_METADATA_DISABLED": "true",
        "TIANKONG_CACHE_TABLE": TABLE,
        "TIANKONG_CACHE_READ_MS": "1000",
        "HOME": os.devnull,
    }


def result(process: subprocess.CompletedProcess[bytes]) -> str:
    """Return the last line of what a process printed; lines of the service's own log come before it."""
    assert process.stdout, process.stderr.decode()
    return process.stdout.decode().splitlines()[-1]


def written(path: Path, lines: list[str]) -> Path:
    """Write a file of templates."""
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_requests_find_what_was_precomputed(
    items: Callable[[], int], environment: Mapping[str, str], tmp_path: Path
) -> None:
    """Another process is answered from the table, for every line, without a model run."""
    file = written(tmp_path / "poems.txt", LINES)
    filled = python("-m", "handler.precompute", str(file), environment=environment)
    asked = python("-m", "handler", "-", "--json", environment=environment, stdin=file.read_bytes())
    cached = [json.loads(line)["results"][0]["cached"] for line in asked.stdout.decode().splitlines()]

    assert result(filled) == "60 written, 0 known already, 0 refused", filled.stderr.decode()
    assert items() == len(LINES)
    assert cached == [True] * len(LINES)
    assert list(tmp_path.iterdir()) == [file]


def test_second_run_writes_nothing(items: Callable[[], int], environment: Mapping[str, str], tmp_path: Path) -> None:
    """What the table holds costs a read."""
    file = written(tmp_path / "poems.txt", LINES)
    for _ in range(2):
        seen = python("-m", "handler.precompute", str(file), "--parallel", "1", environment=environment)

    assert result(seen) == "0 written, 60 known already, 0 refused"


def test_interrupted_run_goes_on_where_it_stopped(
    items: Callable[[], int], environment: Mapping[str, str], tmp_path: Path
) -> None:
    """The table goes away under way; with it back, only the rest of the file is asked for."""
    file = written(tmp_path / "poems.txt", LINES)
    script = """
import sys
from pathlib import Path
from handler import precompute
from handler.core.errors import CacheUnavailableError
real, calls = precompute._store, []
def failing(service, chunk, top_k):
    calls.append(chunk)
    if len(calls) > 1:
        raise CacheUnavailableError(problem="gone")
    return real(service, chunk, top_k)
precompute._store = failing
sys.exit(precompute.main([sys.argv[1], "--parallel", "1"]))
"""
    broken = python("-c", script, str(file), environment=environment)
    resumed = python("-m", "handler.precompute", str(file), environment=environment)

    assert broken.returncode == 1
    assert "go on after line 25" in broken.stderr.decode()
    assert result(resumed) == "35 written, 0 known already, 0 refused"
    assert items() == len(LINES)


def test_bad_lines_are_named_and_the_rest_is_written(
    items: Callable[[], int], environment: Mapping[str, str], tmp_path: Path
) -> None:
    """A line without a blank does not stop a night's work."""
    file = written(tmp_path / "poems.txt", ["没有空", "", LINES[0], "[mask" + LINES[1]])
    seen = python("-m", "handler.precompute", str(file), environment=environment)

    assert seen.returncode == 1
    assert "line 1: " in seen.stderr.decode()
    assert items() >= 1


def test_without_a_table_says_so(tmp_path: Path) -> None:
    """There is nothing to fill."""
    seen = python("-m", "handler.precompute", str(written(tmp_path / "poems.txt", LINES)))

    assert seen.returncode == 2
    assert "TIANKONG_CACHE_TABLE" in seen.stderr.decode()
