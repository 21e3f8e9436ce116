"""What the templates promise, read off what is deployed: after SAM has expanded them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from handler import settings
from handler.adapters import dynamodb_cache

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = ("template.yaml", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "infra").glob("*.yaml")))
# The image has its model in one place; a template that set it could only get it wrong.
NOT_SET = {"TIANKONG_MODEL_DIR"}
# What the bulk worker has and the HTTP API has not.
BULK_ONLY = {"TIANKONG_RESULTS_QUEUE"}

Template = dict[str, Any]
Expand = Callable[[str], Template]


def resources(template: Template, kind: str) -> dict[str, Any]:
    """Return the properties of all resources of a type."""
    return {name: r.get("Properties", {}) for name, r in template["Resources"].items() if r["Type"] == kind}


def variables(template: Template) -> dict[str, Any]:
    """Return the variables of the template's function."""
    [function] = resources(template, "AWS::Lambda::Function").values()
    found: dict[str, Any] = function["Environment"]["Variables"]
    return found


def strings(value: object) -> Iterator[str]:
    """Yield every string inside a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def statements(template: Template) -> Iterator[dict[str, Any]]:
    """Yield every statement of every policy of roles."""
    for role in resources(template, "AWS::IAM::Role").values():
        for policy in role.get("Policies", []):
            yield from policy["PolicyDocument"]["Statement"]
    for policy in resources(template, "AWS::IAM::Policy").values():
        yield from policy["PolicyDocument"]["Statement"]


def test_variables_are_those_of_settings(expanded: Expand) -> None:
    """A setting that no template sets, or a variable that nobody reads, is a mistake."""
    http, bulk = set(variables(expanded("template.yaml"))), set(variables(expanded("infra/bulk.yaml")))

    assert set(settings.variables()) == http | bulk | NOT_SET
    assert http.isdisjoint(NOT_SET | BULK_ONLY)
    assert bulk >= BULK_ONLY


def test_parameters_default_to_what_settings_default_to(expanded: Expand) -> None:
    """The same default in two places, or a comparison."""
    template = expanded("template.yaml")
    chosen = {
        name: template["Parameters"][value["Ref"]]["Default"]
        for name, value in variables(template).items()
        if isinstance(value, dict) and "Ref" in value
    }
    loaded = settings.load({name: str(value) for name, value in chosen.items()})

    assert settings.load({}) == loaded


def test_parameter_bounds_are_those_of_settings(expanded: Expand) -> None:
    """CloudFormation refuses what the function would refuse to start with, and nothing else."""
    template = expanded("template.yaml")
    for name, value in variables(template).items():
        parameter = template["Parameters"].get(value["Ref"], {}) if isinstance(value, dict) and "Ref" in value else {}
        for bound, beyond in (("MinValue", -1), ("MaxValue", 1)):
            if bound in parameter:
                settings.load({name: str(parameter[bound])})
                with pytest.raises(settings.SettingsError):
                    settings.load({name: str(parameter[bound] + beyond)})


def test_authorization_has_no_default(expanded: Expand) -> None:
    """Nobody opens the API to the world without having said so."""
    parameter = expanded("template.yaml")["Parameters"]["Authorization"]

    assert "Default" not in parameter
    assert parameter["AllowedValues"] == ["NONE", "AWS_IAM", "JWT"]


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_parameter_is_described(name: str, expanded: Expand) -> None:
    """The guided deployment asks for each of them."""
    parameters = expanded(name).get("Parameters", {})

    undescribed = [parameter for parameter, facts in parameters.items() if len(facts.get("Description", "")) < 15]

    assert undescribed == []


def test_every_parameter_has_its_group(expanded: Expand) -> None:
    """The console shows them in groups."""
    template = expanded("template.yaml")
    groups = template["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]

    assert sorted(template["Parameters"]) == sorted(name for group in groups for name in group["Parameters"])


def test_routes_are_authorized_as_chosen(expanded: Expand) -> None:
    """Only the preflight route is open."""
    routes = resources(expanded("template.yaml"), "AWS::ApiGatewayV2::Route")

    assert routes["DefaultRoute"]["AuthorizationType"] == {"Ref": "Authorization"}
    assert {route["RouteKey"] for route in routes.values()} == {"$default", "OPTIONS /{proxy+}"}


def test_stage_throttles_and_logs(expanded: Expand) -> None:
    """A flood costs 429s, and every request leaves a line that holds no text of the caller."""
    [stage] = resources(expanded("template.yaml"), "AWS::ApiGatewayV2::Stage").values()
    line = json.loads(stage["AccessLogSettings"]["Format"])

    assert {"ThrottlingRateLimit", "ThrottlingBurstLimit"} <= set(stage["DefaultRouteSettings"])
    assert {"request_id", "status", "latency_ms"} <= set(line)


def test_table_is_what_the_adapter_expects(expanded: Expand) -> None:
    """On demand, with expiry on the attribute that is written, encrypted, with backups by choice."""
    [table] = resources(expanded("template.yaml"), "AWS::DynamoDB::Table").values()

    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert table["KeySchema"] == [{"AttributeName": dynamodb_cache.KEY, "KeyType": "HASH"}]
    assert table["TimeToLiveSpecification"] == {"AttributeName": dynamodb_cache.EXPIRES_AT, "Enabled": True}
    assert table["SSESpecification"] == {"SSEEnabled": True}
    assert "Fn::If" in table["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"]


def test_asynchronous_failures_are_kept(expanded: Expand) -> None:
    """Retries are bounded in number and age, and what fails for good ends in a queue, by whichever name."""
    configurations = resources(expanded("template.yaml"), "AWS::Lambda::EventInvokeConfig")
    alias, latest = configurations["AsyncSettings"], configurations["AsyncSettingsLatest"]

    assert alias["MaximumRetryAttempts"] == {"Ref": "RetryAttempts"}
    assert alias["MaximumEventAgeInSeconds"] == {"Ref": "EventAgeSeconds"}
    assert alias["DestinationConfig"]["OnFailure"] == {"Destination": {"Fn::GetAtt": ["FailureQueue", "Arn"]}}
    assert alias["DestinationConfig"]["OnSuccess"]["Fn::If"][0] == "ResultsKept"
    assert "FunctionAliaslive" in json.dumps(alias["Qualifier"])
    assert {**alias, "Qualifier": "$LATEST"} == latest


def test_bulk_worker_reports_single_failures(expanded: Expand) -> None:
    """One bad message neither takes its neighbours along nor comes back for ever."""
    template = expanded("infra/bulk.yaml")
    [source] = resources(template, "AWS::Lambda::EventSourceMapping").values()
    queues = resources(template, "AWS::SQS::Queue")

    assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert queues["Requests"]["RedrivePolicy"]["deadLetterTargetArn"] == {"Fn::GetAtt": ["DeadLetters", "Arn"]}


def test_bulk_visibility_outlasts_the_worker(expanded: Expand) -> None:
    """A message must not come again while it is still worked on; AWS advises six times the timeout."""
    parameters = expanded("infra/bulk.yaml")["Parameters"]

    assert parameters["VisibilitySeconds"]["Default"] >= 6 * parameters["TimeoutSeconds"]["Default"]


@pytest.mark.parametrize("name", TEMPLATES)
def test_queues_are_encrypted(name: str, expanded: Expand) -> None:
    """Texts wait in them."""
    for queue in resources(expanded(name), "AWS::SQS::Queue").values():
        assert queue["SqsManagedSseEnabled"] is True


@pytest.mark.parametrize("name", TEMPLATES)
def test_logs_expire(name: str, expanded: Expand) -> None:
    """No log group is kept for ever."""
    for group in resources(expanded(name), "AWS::Logs::LogGroup").values():
        assert group["RetentionInDays"] == {"Ref": "LogRetentionDays"}


@pytest.mark.parametrize("name", ["template.yaml", "infra/bulk.yaml", "infra/map.yaml"])
def test_policies_have_no_wildcards(name: str, expanded: Expand) -> None:
    """The function may do what it does, to what is its own (objects of a bucket: to all of one bucket)."""
    for statement in statements(expanded(name)):
        actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
        assert not any("*" in action for action in actions)
        assert statement["Resource"] != "*"


def test_deploy_role_is_taken_by_one_repository_only(expanded: Expand) -> None:
    """Equality, not a pattern: a fork or a branch of another name must not deploy."""
    role = expanded("infra/deploy-role.yaml")["Resources"]["DeployRole"]["Properties"]
    [statement] = role["AssumeRolePolicyDocument"]["Statement"]

    assert list(statement["Condition"]) == ["StringEquals"]
    assert "*" not in json.dumps(statement["Condition"])


def test_deploy_role_can_only_hand_over(expanded: Expand) -> None:
    """What the workflow itself may do to resources is nothing; CloudFormation does it."""
    role = expanded("infra/deploy-role.yaml")["Resources"]["DeployRole"]["Properties"]
    actions = {
        action for policy in role["Policies"] for s in policy["PolicyDocument"]["Statement"] for action in s["Action"]
    }

    assert not any(action.startswith(("lambda:", "dynamodb:", "sqs:", "iam:Create", "iam:Put")) for action in actions)


@pytest.mark.parametrize("name", TEMPLATES)
def test_no_partition_is_written_out(name: str, expanded: Expand) -> None:
    """The stacks work in China and in GovCloud."""
    template = expanded(name)
    template.get("Metadata", {}).clear()
    written = [
        text for text in strings(template["Resources"]) if re.search(r"arn:aws[a-z-]*:|amazonaws\.com\.cn", text)
    ]

    assert written == []


def test_every_alarm_reads_a_metric_that_is_written(expanded: Expand) -> None:
    """A misspelt metric never alarms."""
    from handler.telemetry import _METRICS, NAMESPACE

    ours = [
        a
        for a in resources(expanded("infra/alarms.yaml"), "AWS::CloudWatch::Alarm").values()
        if a["Namespace"] == NAMESPACE
    ]

    assert {alarm["MetricName"] for alarm in ours} <= {name for name, _ in _METRICS}
    assert {"Faults", "Latency", "CacheFaults"} == {alarm["MetricName"] for alarm in ours}


def test_alarms_import_what_the_service_exports(expanded: Expand) -> None:
    """Both sides of every import."""
    exports = {
        output["Export"]["Name"]["Fn::Sub"].replace("${AWS::StackName}", "${Service}")
        for output in expanded("template.yaml")["Outputs"].values()
        if "Export" in output
    }
    text = json.dumps([expanded("infra/alarms.yaml"), expanded("infra/map.yaml")])

    assert set(re.findall(r'"Fn::ImportValue": \{"Fn::Sub": "([^"]+)"', text)) <= exports


def test_dashboard_is_json(expanded: Expand) -> None:
    """CloudWatch takes a text, which nothing else checks."""
    [board] = resources(expanded("infra/alarms.yaml"), "AWS::CloudWatch::Dashboard").values()
    widgets = json.loads(board["DashboardBody"]["Fn::Sub"][0])["widgets"]

    assert len(widgets) == 5
