"""Traces of deployments, sent over OTLP where OpenTelemetry's environment names an endpoint.

A trace is one start of a version: a span `deploy` with a span for each of its steps. The exporter
takes its settings from the environment, see
https://opentelemetry.io/docs/specs/otel/protocol/exporter/.
"""

from __future__ import annotations

import os
from datetime import datetime

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Status, StatusCode

from millrace_workers.model import Start

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
TIMEOUT_SECONDS = 10


def enabled() -> bool:
    """Whether there is an endpoint to send traces to."""
    return any(os.environ.get(name) for name in ENDPOINTS)


def send(start: Start) -> None:
    """Send the trace of a start.

    An endpoint that does not respond costs ten seconds and a warning of OpenTelemetry in the log.
    """
    steps = [step for step in start["steps"] if step["started_at"] and step["finished_at"]]
    if not steps:
        return
    provider = TracerProvider(resource=Resource.create({"service.name": "millrace"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(timeout=TIMEOUT_SECONDS)))
    tracer = provider.get_tracer("millrace_workers")
    whole = tracer.start_span(
        "deploy",
        start_time=_nanoseconds(steps[0]["started_at"]),
        attributes={
            "millrace.deployment": start["deployment"],
            "millrace.topology": start["topology"],
            "millrace.version": start["version"],
            "millrace.workspace": start["workspace"],
        },
    )
    inside = trace.set_span_in_context(whole)
    for step in steps:
        span = tracer.start_span(step["name"], inside, start_time=_nanoseconds(step["started_at"]))
        detail = None if step["detail"] is None else step["detail"]["message"]
        if step["state"] == "failed":
            span.set_status(Status(StatusCode.ERROR, detail))
            whole.set_status(Status(StatusCode.ERROR, detail))
        elif detail is not None:
            span.set_attribute("millrace.detail", detail)
        span.end(_nanoseconds(step["finished_at"]))
    whole.end(_nanoseconds(steps[-1]["finished_at"]))
    provider.shutdown()


def _nanoseconds(time: str | None) -> int | None:
    if time is None:
        return None
    return int(datetime.fromisoformat(time).timestamp() * 1_000_000) * 1000
