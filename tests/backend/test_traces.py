"""The trace of a start, as an OTLP receiver gets it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from deployments import reconciling
from deployments.models import Deployment
from deployments.snapshots import Cause, Failure
from millrace_workers import tasks, traces
from millrace_workers.app import app
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

pytestmark = pytest.mark.django_db


@pytest.fixture
def received(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """The spans that arrive at the configured endpoint; Celery tasks run at once."""
    spans: list[Any] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            request = ExportTraceServiceRequest.FromString(body)
            for resource in request.resource_spans:
                for scope in resource.scope_spans:
                    spans.extend(scope.spans)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Receiver)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    app.conf.task_always_eager = True
    yield spans
    app.conf.task_always_eager = False
    server.shutdown()
    thread.join()
    server.server_close()


def record_of(deployment: Deployment) -> tasks.DatabaseRecord:
    found = reconciling.load_for_reconcile(deployment.pk)
    assert found is not None
    return tasks.DatabaseRecord(found)


def attributes(span: Any) -> dict[str, Any]:
    found = {each.key: each.value for each in span.attributes}
    return {key: value.string_value or value.int_value for key, value in found.items()}


def test_a_start_is_a_trace_with_a_span_for_each_step(
    deployment: Deployment, received: list[Any]
) -> None:
    record = record_of(deployment)
    for name in ("compile", "check", "stage", "start"):
        record.step(name, "running")
        new = Cause("topics_new", "2 topics are new")
        record.step(name, "done", new if name == "check" else None)
    record.step("start", "done")
    named = {span.name: span for span in received}
    assert sorted(span.name for span in received) == sorted(
        ["deploy", "compile", "check", "stage", "start"]
    )
    whole = named.pop("deploy")
    assert attributes(whole) == {
        "millrace.deployment": deployment.pk,
        "millrace.topology": deployment.topology.name,
        "millrace.version": deployment.version.number,
        "millrace.workspace": deployment.workspace.name,
    }
    assert {span.parent_span_id for span in named.values()} == {whole.span_id}
    assert whole.start_time_unix_nano == named["compile"].start_time_unix_nano
    assert whole.end_time_unix_nano == named["start"].end_time_unix_nano
    assert attributes(named["check"]) == {"millrace.detail": "2 topics are new"}
    assert whole.status.code == 0


def test_a_failed_step_is_an_error_of_the_trace(
    deployment: Deployment, received: list[Any]
) -> None:
    record = record_of(deployment)
    record.step("compile", "running")
    record.step("compile", "failed", Failure("expression", "The expression is not valid."))
    assert [span.name for span in received] == ["compile", "deploy"]
    assert {span.status.message for span in received} == {"The expression is not valid."}
    assert {span.status.code for span in received} == {2}


def test_without_an_endpoint_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in traces.ENDPOINTS:
        monkeypatch.delenv(name, raising=False)
    assert not traces.enabled()
    monkeypatch.setenv(traces.ENDPOINTS[0], "http://collector:4318/v1/traces")
    assert traces.enabled()
