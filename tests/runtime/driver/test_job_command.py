"""`python job.py`: options, secrets, and errors that can be acted on."""

from __future__ import annotations

from pathlib import Path

import pytest
from millrace_runtime.driver.main import parser
from millrace_runtime.driver.options import kafka_options
from millrace_runtime.driver.start import Stages
from millrace_runtime.errors import MillraceError, StreamStopped, fault_of, refusal
from millrace_runtime.job.explaining import explain
from millrace_runtime.session.java_exceptions import causes


def test_client_settings_come_from_a_file_and_from_variables(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("# comment\nsecurity.protocol = SASL_SSL\n\nsasl.jaas.config=a=b\n")
    options = kafka_options(str(file), {"MILLRACE_KAFKA_SASL_MECHANISM": "PLAIN", "HOME": "/"})
    assert options == {
        "security.protocol": "SASL_SSL",
        "sasl.jaas.config": "a=b",
        "sasl.mechanism": "PLAIN",
    }


def test_a_line_that_is_no_setting_is_named(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("a=b\nnonsense\n")
    with pytest.raises(MillraceError, match=r"line 2: expected key=value, found 'nonsense'"):
        kafka_options(str(file), {})


def test_the_broker_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", "kafka:9092")
    assert parser("x").parse_args(["--checkpoint", "c"]).bootstrap_servers == "kafka:9092"


def test_a_fault_is_read_out_of_sparks_exception() -> None:
    text = (
        "[STREAM_FAILED] Query terminated: Job aborted: org.x.StreamStopped: MILLRACE-FAULT "
        '{"kind":"processing","node":"words","parameter":"values","message":"no \\"array\\"",'
        '"record":{"topic":"t","partition":1,"offset":2}} at org.x.Y(Y.scala:1)'
    )
    fault = fault_of(text)
    assert fault is not None
    stopped = explain(RuntimeError(text))
    assert isinstance(stopped, StreamStopped)
    assert (stopped.node, stopped.parameter) == ("words", "values")
    assert stopped.as_dict()["record"] == {"topic": "t", "partition": 1, "offset": 2}
    assert stopped.message == 'no "array"'


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("java.util.concurrent.TimeoutException: Timed out waiting", "broker_unreachable"),
        ("org.apache.kafka.UnknownTopicOrPartitionException: no", "topic_missing"),
        ("TopicAuthorizationException: Not authorized", "not_authorized"),
        (
            "Lost task 0.0 (TID 1) (x): org.apache.kafka.common.errors.TimeoutException: "
            "Topic t not present in metadata after 60000 ms.\n\tat x.y.Z\nCaused by: "
            "org.apache.kafka.common.errors.UnknownTopicOrPartitionException: This server does not",
            "topic_missing",
        ),
        (
            "Lost task 0.0 (TID 1) (x): org.apache.kafka.common.errors.TimeoutException: "
            "Topic t not present in metadata after 60000 ms.",
            "broker_unreachable",
        ),
        (
            "org.apache.spark.sql.kafka010.KafkaIllegalStateException: Some data may have been "
            "lost because they are not available in Kafka any more",
            "offsets_lost",
        ),
        ("terminated with exception: [KAFKA_DATA_LOSS.COULD_NOT_READ] Some", "offsets_lost"),
        # A timeout that does not concern the broker, and words within a record.
        ("java.net.SocketTimeoutException: Read timed out", "internal"),
        ("a record says MyTimeoutException and [NOT_STATE_STORE_]", "internal"),
        ("SaslAuthenticationException: failed", "not_authenticated"),
        ("java.io.IOException: No space left on device", "disk_full"),
    ],
)
def test_causes_outside_the_job_are_distinguished(text: str, code: str) -> None:
    assert explain(RuntimeError(text)).code == code


def test_the_cause_of_a_failed_query_is_named_without_its_stack_frames() -> None:
    class Captured(RuntimeError):  # like PySpark's, which needs a JVM
        _cause: Captured | None = None
        _desc = "Job aborted"
        _stackTrace = "org.x.Job: Job aborted\n\tat org.x.TimeoutException.y(Y.scala:1)\n"  # noqa: N815

    error = Captured("[CANNOT_WRITE_STATE_STORE.CANNOT_COMMIT] Error writing state store files")
    error._cause = Captured()
    assert explain(error).code == "internal"
    error._cause._cause = Captured()
    error._cause._cause._stackTrace += "Caused by: java.io.IOException: No space left on device\n"
    assert explain(error).code == "disk_full"


def test_the_class_of_an_error_is_that_of_its_sqlstate() -> None:
    class Spark(RuntimeError):
        def getCondition(self) -> str:  # noqa: N802 - as PySpark's
            return "USER_RAISED_EXCEPTION"

        def getSqlState(self) -> str:  # noqa: N802
            return "P0001"

    printed = RuntimeError("x: [USER_RAISED_EXCEPTION] no. SQLSTATE: P0001\n\tat SQLSTATE: 22003")
    for error in (Spark("no"), printed):
        found = [(each.condition, each.state) for each in causes(error)]
        assert {state for _, state in found} == {"", "P0001"}
        assert "USER_RAISED_EXCEPTION" in {condition for condition, _ in found}


def test_an_unknown_failure_shows_its_first_line_only() -> None:
    error = explain(RuntimeError("\nsomething broke\n\tat x.y.Z"))
    assert error.message == "The job failed: something broke"


def test_a_graph_that_the_operator_refuses_names_node_and_parameter() -> None:
    told = MillraceError("type", "gives INT | needs {}", node="count", parameter="group_by")
    error = explain(RuntimeError(f"org.apache.spark.SparkException: {refusal(told)}\nat x"))
    assert error.as_dict() == {
        "code": "type",
        "node": "count",
        "parameter": "group_by",
        "message": "gives INT | needs {}",
    }
    told = MillraceError("topic_missing", "no topic a", facts={"topic": "a"})
    error = explain(RuntimeError(f"org.apache.spark.SparkException: {refusal(told)}\nat x"))
    assert error.as_dict()["facts"] == {"topic": "a"}


def test_a_start_reports_how_long_its_parts_took() -> None:
    stages = Stages()
    stages.done("Spark")
    stages.done("topology")
    assert stages.summary() == "started in 0.0 s: Spark 0.0, topology 0.0"


def test_a_job_shows_what_takes_time_while_it_starts(capsys: pytest.CaptureFixture[str]) -> None:
    Stages().begin("Spark")
    assert capsys.readouterr().err.endswith(" INFO Starting Spark.\n")


@pytest.mark.parametrize("error", [ConnectionRefusedError(111, "refused"), ConnectionResetError()])
def test_a_jvm_that_is_gone_is_named(error: OSError) -> None:
    assert explain(error).code == "spark_lost"
