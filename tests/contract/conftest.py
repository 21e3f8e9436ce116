"""The tables that the contract runs over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import boto3
import pytest
from moto import mock_aws

from handler.adapters.dynamodb_cache import create_client
from tests.support import ministack

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TABLE = "tiankong-cache"


@pytest.fixture(autouse=True)
def aws_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of this machine's own AWS settings, and keys that open nothing."""
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent/config")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent/credentials")


@pytest.fixture(scope="session")
def ministack_address() -> Iterator[str]:
    """A real server, started once."""
    with ministack.running() as address:
        yield address


@pytest.fixture
def moto_client() -> Iterator[DynamoDBClient]:
    """A client of moto, with an empty table."""
    with mock_aws():
        client = create_client(1000)
        ministack.make_table(client, TABLE)
        yield client


@pytest.fixture
def ministack_client(ministack_address: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[DynamoDBClient]:
    """A client of the real server, with an empty table."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", ministack_address)
    # Making a table takes longer than the caches' client waits.
    maker = boto3.client("dynamodb")
    ministack.make_table(maker, TABLE)
    yield create_client(1000)
    maker.delete_table(TableName=TABLE)
