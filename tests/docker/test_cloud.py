"""The chain, for real: templates deployed to a local cloud that runs our image in containers."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docker import cloud as local_cloud
from tests.docker.cloud import Cloud, eventually
from tests.docker.engine import docker
from tests.infra.conftest import tool

pytestmark = [pytest.mark.docker, pytest.mark.timeout(400)]

CAPITAL = {"text": "北京是中国的[MASK]都。"}
# The local cloud answers from one busy process; the budget of a real table (10 ms) would now and then be too small.
PATIENT = {"CacheReadMs": "1000"}


def with_image(project: Path, name: str, image: str) -> str:
    """Return a template with the image in it, as `sam package` would."""
    text = (project / name).read_text(encoding="utf-8")
    return text.replace("      PackageType: Image\n", f"      PackageType: Image\n      ImageUri: {image}\n")


@pytest.fixture(scope="module")
def cloud(image: str) -> Iterator[Cloud]:
    """Yield a running local cloud."""
    with local_cloud.running(tool("cloud", "ministack")) as started:
        yield started


@pytest.fixture(scope="module")
def service(cloud: Cloud, project: Path, image: str) -> dict[str, str]:
    """Deploy template.yaml, open to everybody, with answers to asynchronous invocations kept."""
    chosen = {"Authorization": "NONE", "AsyncResults": "On", **PATIENT}
    return cloud.deploy("tiankong", with_image(project, "template.yaml", image), chosen)


def test_http_api_answers_from_the_container(cloud: Cloud, service: dict[str, str]) -> None:
    """HTTP API, alias, container, model, and back."""
    answer = cloud.post(service["ApiId"], "/v1/fill-mask", CAPITAL)

    assert answer["results"][0]["masks"][0]["candidates"][0]["text"] == "北京是中国的首都。"


def test_repeated_template_is_answered_from_the_table(cloud: Cloud, service: dict[str, str], image: str) -> None:
    """Another container, which never saw the text, finds it in DynamoDB: the table, the answer and the metric agree."""
    poem = {"text": "床前明月[MASK]，疑是地上霜。"}
    first = cloud.post(service["ApiId"], "/v1/fill-mask", poem)
    cloud.post(service["ApiId"], "/v1/fill-mask", poem)  # the second sight is worth a write
    items = cloud.client("dynamodb").scan(TableName=service["TableName"])["Items"]
    docker(
        "rm",
        "--force",
        *docker("ps", "--quiet", "--filter", f"ancestor={image}", "--filter", "label=ministack").split(),
    )
    second = cloud.post(service["ApiId"], "/v1/fill-mask", poem)
    event = eventually(
        lambda: [e for e in cloud.events("/aws/lambda/tiankong") if e["request_id"] == second["request_id"]]
    )[0]

    assert len(items) == 1
    assert [first["results"][0]["cached"], second["results"][0]["cached"]] == [False, True]
    assert first["results"][0]["masks"] == second["results"][0]["masks"]
    assert (event["ColdStarts"], event["CacheHits"], event["Passes"], event["CacheFaults"]) == (1, 1, 0, 0)


def test_asynchronous_events_are_answered_once_each(cloud: Cloud, service: dict[str, str]) -> None:
    """In = answered, by id: a bad request is answered with an error object, neither retried nor kept as a failure.

    (The local cloud knows no destination for successes; that it is asked for is a test of the template.)
    """
    sent = {str(uuid.uuid4()): text for text in ("第一[MASK]", "第二[MASK]", "没有空")}
    for request_id, text in sent.items():
        cloud.client("lambda").invoke(
            FunctionName=service["FunctionAlias"],
            InvocationType="Event",
            Payload=json.dumps({"text": text, "request_id": request_id}),
        )

    def answered() -> list[str]:
        return [e["request_id"] for e in cloud.events("/aws/lambda/tiankong") if e["request_id"] in sent]

    eventually(lambda: len(answered()) >= len(sent))

    assert sorted(answered()) == sorted(sent)
    assert cloud.receive(service["FailureQueueUrl"]) == []


def test_asynchronous_failure_is_retried_and_kept(cloud: Cloud, project: Path, image: str) -> None:
    """A function without its model raises; Lambda tries three times and the failure queue gets the event, once."""
    template = with_image(project, "template.yaml", image)
    broken = template.replace(
        "          TIANKONG_THREADS:", "          TIANKONG_MODEL_DIR: /nowhere\n          TIANKONG_THREADS:"
    )
    stack = cloud.deploy("broken", broken, {"Authorization": "NONE", "Cache": "Off"})
    request_id = str(uuid.uuid4())
    cloud.client("lambda").invoke(
        FunctionName=stack["FunctionName"],  # the local cloud knows the settings of an alias, but does not follow them
        InvocationType="Event",
        Payload=json.dumps({**CAPITAL, "request_id": request_id}),
    )
    failures = eventually(lambda: cloud.receive(stack["FailureQueueUrl"]), limit_s=90)
    records = [json.loads(failure["body"]) for failure in failures]
    tries = [event for event in cloud.events("/aws/lambda/broken") if event["request_id"] == request_id]

    assert [record["requestPayload"]["request_id"] for record in records] == [request_id]
    assert records[0]["responsePayload"]["errorType"] == "ArtifactMissingError"
    assert [event["Faults"] for event in tries] == [1, 1, 1]


def test_queue_counts_by_id(cloud: Cloud, service: dict[str, str], project: Path, image: str) -> None:
    """In = answers + dead letters: the poisoned message ends in the dead letters, and its neighbours are answered."""
    chosen = {
        "CacheTable": service["TableName"],
        "TimeoutSeconds": "10",
        "VisibilitySeconds": "10",
    }
    template = with_image(project, "infra/bulk.yaml", image)
    # Numbers from parameters are texts in the local cloud, which its poller then cannot compare; AWS converts them.
    template = template.replace("maxReceiveCount: !Ref MaxReceives", "maxReceiveCount: 2")
    template = template.replace("BatchSize: !Ref BatchSize", "BatchSize: 10")
    template = template.replace("MaximumConcurrency: !Ref MaximumConcurrency", "MaximumConcurrency: 2")
    stack = cloud.deploy("bulk", template, chosen)
    sqs = cloud.client("sqs")
    bodies = [json.dumps({"text": f"第{number}[MASK]人", "request_id": f"r-{number}"}) for number in range(8)]
    bodies += [json.dumps({"text": "没有空", "request_id": "bad"}), "这不是 JSON"]
    entries = [{"Id": str(at), "MessageBody": body} for at, body in enumerate(bodies)]
    sent = sqs.send_message_batch(QueueUrl=stack["RequestsUrl"], Entries=entries)["Successful"]
    ids = {entry["Id"]: entry["MessageId"] for entry in sent}
    answers: dict[str, object] = {}
    dead: dict[str, str] = {}

    def all_there() -> bool:
        for message in cloud.receive(stack["AnswersUrl"]):
            answer = json.loads(message["body"])
            assert answer["message_id"] not in answers  # once each
            answers[answer["message_id"]] = answer
        dead.update({message["id"]: message["body"] for message in cloud.receive(stack["DeadLettersUrl"])})
        return len(answers) + len(dead) >= len(bodies)

    eventually(all_there, limit_s=120)

    assert dead == {ids["9"]: "这不是 JSON"}
    assert set(answers) == set(ids.values()) - set(dead)
    assert cloud.receive(stack["RequestsUrl"]) == []


def test_alarms_deploy_beside_the_service(cloud: Cloud, service: dict[str, str], project: Path) -> None:
    """Every import is found, every alarm is there, and the topic is what they tell."""
    template = (project / "infra" / "alarms.yaml").read_text(encoding="utf-8")
    stack = cloud.deploy("tiankong-alarms", template, {"Service": "tiankong"})
    alarms = cloud.client("cloudwatch").describe_alarms()["MetricAlarms"]
    ours = [alarm for alarm in alarms if alarm.get("AlarmActions") == [stack["TopicArn"]]]

    assert len(ours) == 7
    assert {service["FunctionName"], service["ApiId"]} & {
        dimension["Value"] for alarm in ours for dimension in alarm["Dimensions"]
    }


def test_map_fills_every_line_of_a_file(cloud: Cloud, service: dict[str, str], project: Path) -> None:
    """JSON lines in S3, a distributed map, answers counted by line.

    (The local cloud neither batches the lines nor writes to S3: one line is a batch here, and it returns the answers.)
    """
    s3, states = cloud.client("s3"), cloud.client("stepfunctions")
    s3.create_bucket(Bucket="texts", CreateBucketConfiguration={"LocationConstraint": local_cloud.REGION})
    texts = [f"第{number}个[MASK]。" for number in range(25)]
    lines = "\n".join(json.dumps({"text": text}, ensure_ascii=False) for text in texts)
    s3.put_object(Bucket="texts", Key="in.jsonl", Body=lines.encode())
    template = (project / "infra" / "map.yaml").read_text(encoding="utf-8")
    template = template.replace('"texts.$": "$.Items[*].text"', '"text.$": "$.text"')
    stack = cloud.deploy(
        "tiankong-map", template, {"Bucket": "texts", "LinesPerBatch": "10", "TopK": "1", "MaxConcurrency": "1"}
    )
    started = states.start_execution(
        stateMachineArn=stack["StateMachineArn"], input=json.dumps({"input": "in.jsonl", "output": "out"})
    )["executionArn"]
    done = eventually(
        lambda: found if (found := states.describe_execution(executionArn=started))["status"] != "RUNNING" else {},
        limit_s=120,
    )
    answers = json.dumps(json.loads(done.get("output", "[]")), ensure_ascii=False).replace("\\", "")
    filled = re.findall(r'"text": ?"(第[0-9]+个\[MASK\]。)"', answers)

    assert done.get("status") == "SUCCEEDED", done
    assert sorted(filled) == sorted(texts), answers[:2000]
