"""A local cloud that runs our image: deploys our templates, calls the HTTP API, keeps queues, table and logs."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import boto3

from tests.docker.engine import docker
from tests.support.ministack import free_port

REGION: Final = "eu-central-1"
KEYS: Final = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
_READY_S: Final = 40

_Found = TypeVar("_Found")


def eventually(look: Callable[[], _Found], *, limit_s: float = 60, every_s: float = 0.5) -> _Found:
    """Look until there is something to see, and return the last that was seen."""
    until = time.monotonic() + limit_s
    while True:
        found = look()
        if found or time.monotonic() > until:
            return found
        time.sleep(every_s)


class Cloud:
    """The local cloud at an address that this machine and its containers share: the engine's bridge."""

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port
        self.address = f"http://{host}:{port}"

    def client(self, service: str) -> Any:
        """Return a client of one service."""
        return boto3.client(service, endpoint_url=self.address, region_name=REGION, **KEYS)  # type: ignore[call-overload]  # by a variable's name

    def deploy(self, name: str, template: str, parameters: Mapping[str, str]) -> dict[str, str]:
        """Deploy a template as text and return the stack's outputs, and its resources by logical name."""
        cloudformation = self.client("cloudformation")
        given = [{"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()]
        cloudformation.create_stack(
            StackName=name,
            TemplateBody=template,
            Parameters=given,
            Capabilities=["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"],
        )
        stack = eventually(lambda: self._finished(name))
        events = cloudformation.describe_stack_events(StackName=name)["StackEvents"]
        reasons = [event.get("ResourceStatusReason") for event in events if "FAILED" in event["ResourceStatus"]]
        assert stack.get("StackStatus") == "CREATE_COMPLETE", reasons
        resources = cloudformation.describe_stack_resources(StackName=name)["StackResources"]
        return {
            **{resource["LogicalResourceId"]: resource["PhysicalResourceId"] for resource in resources},
            **{output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", [])},
        }

    def _finished(self, name: str) -> dict[str, Any]:
        stack: dict[str, Any] = self.client("cloudformation").describe_stacks(StackName=name)["Stacks"][0]
        return {} if stack["StackStatus"].endswith("IN_PROGRESS") else stack

    def post(self, api: str, path: str, body: object) -> Any:
        """Post to an HTTP API."""
        headers = {"Host": f"{api}.execute-api.{self.host}", "Content-Type": "application/json"}
        data = json.dumps(body, ensure_ascii=False).encode()
        with urllib.request.urlopen(
            urllib.request.Request(f"{self.address}{path}", data, headers), timeout=60
        ) as answer:
            return json.loads(answer.read())

    def events(self, group: str) -> list[dict[str, Any]]:
        """Return the function's event lines, which are its metrics."""
        lines = self.client("logs").filter_log_events(logGroupName=group)["events"]
        texts = [line["message"] for line in lines if line["message"].startswith("{")]
        return [event for event in map(json.loads, texts) if event.get("message") == "event"]

    def receive(self, queue: str) -> list[dict[str, Any]]:
        """Take all messages that a queue has."""
        sqs, taken = self.client("sqs"), []
        while messages := sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10).get("Messages", []):
            for message in messages:
                sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
                taken.append({"id": message["MessageId"], "body": message["Body"]})
        return taken


@contextmanager
def running(program: Path) -> Iterator[Cloud]:
    """Start the local cloud on the engine's bridge and stop it, its containers included."""
    host = docker("network", "inspect", "bridge", "--format", "{{(index .IPAM.Config 0).Gateway}}")
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="cloud-") as folder, (Path(folder) / "log").open("wb") as log:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("AWS_")},
            "BIND_HOST": host,
            "MINISTACK_HOST": host,
            "GATEWAY_PORT": str(port),
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",  # what containers are told
            "MINISTACK_REGION": REGION,
            "IOT_MTLS_ENABLED": "0",
            "LAMBDA_ASYNC_RETRY_BASE_SECONDS": "1",
            "HOME": folder,
        }
        process = subprocess.Popen([str(program)], cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            _wait(process, f"http://{host}:{port}")
            yield Cloud(host, port)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(5)
            _remove_containers(f"http://{host}:{port}")


def _remove_containers(address: str) -> None:
    """Remove the containers that this cloud started and no others: the engine may serve more than this test."""
    for identity in docker("ps", "--all", "--quiet", "--filter", "label=ministack").split():
        with contextlib.suppress(AssertionError):  # the cloud may remove it at the same time
            if address in docker("inspect", "--format", "{{json .Config.Env}}", identity):
                docker("rm", "--force", identity)


def _wait(process: subprocess.Popen[bytes], address: str) -> None:
    until = time.monotonic() + _READY_S
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=1):
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError("the local cloud did not start")
