"""A guided deployment with its questions answered, to a local cloud with a registry that the image is pushed to."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.docker import cloud as local_cloud
from tests.docker.engine import OFFLINE
from tests.docker.forward import forwarding
from tests.infra.conftest import tool

pytestmark = [pytest.mark.docker, pytest.mark.timeout(400)]

AWS_REGISTRY = "https://000000000000.dkr.ecr.eu-central-1.amazonaws.com"


def answers(template: str, repository: str) -> list[str]:
    """Return what is typed: Enter for every default, and who may call, which has none."""
    parameters = re.findall(r"^  ([A-Z]\w+):\n    Type: (?:String|Number|CommaDelimitedList)$", template, re.MULTILINE)
    given = {"Authorization": "NONE"}
    stack, confirm, roles, keep_resources, save, managed = "", "n", "y", "n", "n", "n"
    return [
        stack,
        OFFLINE["AWS_DEFAULT_REGION"],
        *(given.get(name, "") for name in parameters),
        *(confirm, roles, keep_resources, save, managed, repository),
    ]


def test_guided_deployment_goes_through(sam: Path, built: Path) -> None:
    """From the questions to an answer in Chinese through the image that was pushed."""
    # A repository of our own, since the managed ones are at AWS's address, which nobody here answers.
    text = (built / "samconfig.toml").read_text(encoding="utf-8")
    (built / "guided.toml").write_text(text.replace("resolve_image_repos = true\n", ""), encoding="utf-8")
    with local_cloud.running(tool("cloud", "ministack")) as cloud:
        with forwarding(cloud.host, cloud.port, AWS_REGISTRY) as port:
            cloud.client("ecr").create_repository(repositoryName="tiankong")
            repository = f"127.0.0.1:{port}/tiankong"
            typed = answers((built / "template.yaml").read_text(encoding="utf-8"), repository)
            seen = subprocess.run(
                [str(sam), "deploy", "--guided", "--config-file", "guided.toml"],
                cwd=built,
                env={**os.environ, **OFFLINE, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"},
                input="\n".join(typed) + "\n",
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
        assert seen.returncode == 0, seen.stdout[-3000:] + seen.stderr[-3000:]
        stack = cloud.client("cloudformation").describe_stacks(StackName="tiankong")["Stacks"][0]
        outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
        function = cloud.client("lambda").get_function(FunctionName=outputs["FunctionName"])
        answer = cloud.post(outputs["ApiId"], "/v1/fill-mask", {"text": "北京是中国的[MASK]都。"})

    assert function["Code"]["ImageUri"].startswith(repository)
    assert answer["results"][0]["masks"][0]["candidates"][0]["text"] == "北京是中国的首都。"
