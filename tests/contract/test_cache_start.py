"""The start of a function whose shared cache cannot be had: one warning, and answers without it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from handler import bootstrap
from handler.settings import Settings
from tests.contract.conftest import TABLE
from tests.support import embedded, servers

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ONE: dict[str, Any] = {"text": "今天天气真[MASK]啊。"}


def uncached() -> list[Any]:
    """Return the scores without any cache."""
    return [embedded.scores(result) for result in embedded.fill(embedded.service(), ONE).results]


def notices(capsys: pytest.CaptureFixture[str]) -> Iterator[dict[str, Any]]:
    """Yield the warnings about the cache that the start wrote."""
    for line in capsys.readouterr().out.splitlines():
        notice = json.loads(line)
        if "shared cache" in notice["message"]:
            yield notice


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("AWS_DEFAULT_REGION", None, "NoRegionError"),
        ("AWS_SECRET_ACCESS_KEY", None, "PartialCredentialsError"),
        (("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), None, "no AWS credentials"),
        ("AWS_PROFILE", "no-such-profile", "ProfileNotFound"),
        ("AWS_ENDPOINT_URL_DYNAMODB", "not a URL", "ValueError"),
        ("AWS_DEFAULT_REGION", "no region!", "InvalidRegionError"),
    ],
)
def test_start_goes_on_without_a_shared_cache_when_there_can_be_no_client(
    variable: str | tuple[str, ...],
    value: str | None,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Without region or credentials the function starts with one warning and answers without a fault."""
    for name in (variable,) if isinstance(variable, str) else variable:
        if value is None:
            monkeypatch.delenv(name)
        else:
            monkeypatch.setenv(name, value)

    service = bootstrap.start(Settings(cache_table=TABLE, threads=1)).service()
    warnings = list(notices(capsys))
    answer = embedded.fill(service, ONE)

    assert uncached() == [embedded.scores(result) for result in answer.results]
    assert answer.cache_faults == 0
    assert [warning["level"] for warning in warnings] == ["WARNING"]
    assert expected in warnings[0]["problem"]


def test_start_goes_on_without_boto3(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """An image without boto3 answers all the same, with one warning."""
    monkeypatch.setitem(sys.modules, "boto3", None)

    service = bootstrap.start(Settings(cache_table=TABLE, threads=1)).service()
    warnings = list(notices(capsys))
    answer = embedded.fill(service, ONE)

    assert uncached() == [embedded.scores(result) for result in answer.results]
    assert [warning["problem"].split(": ")[-1] for warning in warnings] == ["boto3 is not installed"]
    assert answer.cache_faults == 0


@pytest.mark.parametrize(
    "server",
    [servers.silent, servers.refusing(400, "ResourceNotFoundException")],
    ids=["silent", "no table"],
)
def test_start_leaves_a_table_alone_that_does_not_answer(
    server: servers.Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first connection is made during the start; where it fails, the first requests do not try again."""
    with server() as listener:
        monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", listener.address)
        service = bootstrap.start(Settings(cache_table=TABLE, threads=1, cache_admit_after=1)).service()
        warnings = list(notices(capsys))
        connections = listener.connections
        answer = embedded.fill(service, ONE)

        assert connections == listener.connections == 1
    assert answer.cache_faults == 0
    assert len(warnings) == 1


def test_start_connects_to_a_table_that_answers(
    ministack_client: DynamoDBClient, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a table that answers there is no warning, and a second environment reads what the first one wrote."""
    settings = Settings(cache_table=TABLE, threads=1, cache_admit_after=1, cache_read_ms=1000)
    first = embedded.fill(bootstrap.start(settings).service(), ONE)
    second = embedded.fill(bootstrap.start(settings).service(), ONE)

    assert list(notices(capsys)) == []
    assert (first.cache_hits, second.cache_hits) == (0, 1)
    assert embedded.scores(first.results[0]) == embedded.scores(second.results[0])
