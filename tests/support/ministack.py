"""A real server that speaks AWS's protocols, on this machine only."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import boto3

from handler.adapters.dynamodb_cache import KEY

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_READY_S: Final = 40
_STOP_S: Final = 5


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def dynamodb(address: str) -> DynamoDBClient:
    """Return a client of a running server."""
    return boto3.client(
        "dynamodb",
        endpoint_url=address,
        region_name="eu-central-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )


def make_table(client: DynamoDBClient, name: str) -> None:
    """Make the cache's table as the template does."""
    client.create_table(
        TableName=name,
        AttributeDefinitions=[{"AttributeName": KEY, "AttributeType": "S"}],
        KeySchema=[{"AttributeName": KEY, "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )


@contextmanager
def running() -> Iterator[str]:
    """Start the server in a folder of its own, yield its address, and stop it."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory(prefix="ministack-") as folder, (Path(folder) / "log").open("wb") as log:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("AWS_")},
            "BIND_HOST": "127.0.0.1",
            "GATEWAY_PORT": str(port),
            "IOT_MTLS_ENABLED": "0",  # listens on a port of its own otherwise
            "HOME": folder,
        }
        program = Path(sys.executable).parent / "ministack"
        process = subprocess.Popen([str(program)], cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            _wait(process, address)
            yield address
        finally:
            _stop(process)


def _wait(process: subprocess.Popen[bytes], address: str) -> None:
    until = time.monotonic() + _READY_S
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("ministack did not start")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(_STOP_S)
