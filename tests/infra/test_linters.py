"""The tools that know CloudFormation, offline."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = ["template.yaml", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "infra").glob("*.yaml"))]
OFFLINE = {
    "SAM_CLI_TELEMETRY": "0",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_DEFAULT_REGION": "eu-central-1",
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
}
# Each with the reason for which we know better than the rule.
SKIPPED = {
    "CKV_AWS_116": "a failed event goes to the failure destination; a dead-letter queue beside it would hold it twice",
    "CKV_AWS_117": "a VPC buys nothing here: the function talks to DynamoDB and SQS only, by TLS and IAM",
    "CKV_AWS_115": "reserved concurrency is a parameter; a default would starve the account's other functions",
    "CKV_AWS_173": "no variable is a secret; AWS encrypts them with its own key",
    "CKV_AWS_158": "logs hold no text of callers; AWS encrypts them with its own key",
    "CKV_AWS_119": "a cache of answers that anybody may compute; a customer's key costs a call for each read",
    "CKV_AWS_28": "backups are a parameter: a cache can be computed again",
    "CKV_AWS_27": "encrypted with SQS's own key (SqsManagedSseEnabled), which the rule does not know",
    "CKV_AWS_26": "CloudWatch cannot publish to a topic under AWS's key; messages hold names and numbers only",
    "CKV_AWS_285": "an express child execution would log the texts of callers",
    "CKV_AWS_284": "tracing of a batch job adds cost and no insight",
    "CKV_AWS_109": "the deploy role's CloudFormation role makes policies for roles of one name prefix",
    "CKV_AWS_111": "actions that know no resource, each with its reason in the template",
}


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a tool offline from the project's folder."""
    environment = {**os.environ, **OFFLINE}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


@pytest.mark.parametrize("name", TEMPLATES)
def test_cfn_lint_is_clean(name: str) -> None:
    """Errors, warnings and informational findings alike."""
    seen = run(str(Path(sys.executable).with_name("cfn-lint")), "--include-checks", "I", "--", name)

    assert seen.returncode == 0, seen.stdout


@pytest.mark.parametrize("name", ["template.yaml", "infra/bulk.yaml"])
@pytest.mark.slow
def test_sam_validates(name: str, sam_bin: Path) -> None:
    """The SAM CLI's own checks and its cfn-lint."""
    seen = run(str(sam_bin / "sam"), "validate", "--lint", "-t", name)

    assert seen.returncode == 0, seen.stdout + seen.stderr


@pytest.mark.slow
def test_checkov_finds_nothing_without_a_reason(sam_bin: Path) -> None:
    """Every rule that is skipped says why."""
    files = [part for name in TEMPLATES for part in ("-f", name)]
    seen = run(
        str(sam_bin / "checkov"), *files, "--framework", "cloudformation", "--skip-download", "--compact", "--quiet",
        "--skip-check", ",".join(SKIPPED),
    )  # fmt: skip

    assert seen.returncode == 0, seen.stdout
