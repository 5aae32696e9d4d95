"""The metrics that Prometheus scrapes."""

from __future__ import annotations

import time
from typing import Any

from deployments import reconciling
from deployments.models import Deployment
from millrace_backend import redis
from prometheus_client.parser import text_string_to_metric_families

from .conftest import Client, People
from .test_runtime import progress, report

#: the Accept header of Prometheus
ACCEPT = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1"


def scraped(client: Any) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Return the samples by name and labels, without the labels of the deployment."""
    answer = client.get("/api/metrics", headers={"accept": ACCEPT})
    assert answer.status_code == 200, answer.content
    assert answer["Content-Type"].startswith("text/plain; version=0.0.4")
    own = {"workspace", "topology", "deployment"}
    return {
        (sample.name, tuple(sorted((k, v) for k, v in sample.labels.items() if k not in own))): (
            sample.value
        )
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }


def test_every_figure_of_a_report_is_a_metric(
    deployment: Deployment, people: People, client_of: Client
) -> None:
    reconciling.begin_run(deployment.pk, 1, "here", "boot/1", 1)
    now = int(time.time() * 1000)
    # An operator without a store node has the name of another one's store.
    stores = [
        {"name": "counts", "node": "kept", "rows": 4, "bytes": 400},
        {"name": "counts", "node": "counts", "rows": 2, "bytes": 20},
    ]
    report(
        f"{deployment.pk}-1", progress(now - 3_000, 100), progress(now - 500, 350, stores=stores)
    )
    found = scraped(client_of(people.viewer))
    state = {labels[0][1]: value for (name, labels), value in found.items() if "_state" in name}
    words = ("processor_node_id", "words")
    task = (("task_id", "0_1"),)
    expected = {
        ("kafka_streams_stream_processor_node_metrics_process_total", (words,)): 350.0,
        ("kafka_streams_stream_processor_node_metrics_forward_total", (words,)): 700.0,
        ("millrace_dropped_records_total", (words, ("reason", "null_key"))): 1.0,
        ("millrace_join_misses_total", (words, ("reason", "no_match"))): 2.0,
        ("millrace_dead_letters_total", (words,)): 3.0,
        ("kafka_streams_stream_task_metrics_process_total", task): 350.0,
        ("millrace_stream_time_seconds", task): 0.099,
        (
            "kafka_consumer_fetch_manager_metrics_records_lag",
            (("partition", "1"), ("topic", "t")),
        ): 2.0,
        (
            "kafka_streams_stream_processor_node_metrics_record_e2e_latency_avg",
            (words,),
        ): 210.5,
        (
            "kafka_streams_stream_processor_node_metrics_record_e2e_latency_min",
            (words,),
        ): 130.0,
        (
            "kafka_streams_stream_processor_node_metrics_record_e2e_latency_max",
            (words,),
        ): 944.0,
        ("millrace_record_latency_seconds_bucket", (("le", "0.064"), words)): 0.0,
        ("millrace_record_latency_seconds_bucket", (("le", "0.256"), words)): 349.0,
        ("millrace_record_latency_seconds_bucket", (("le", "1.024"), words)): 350.0,
        ("millrace_record_latency_seconds_bucket", (("le", "+Inf"), words)): 350.0,
        ("millrace_record_latency_seconds_count", (words,)): 350.0,
        ("millrace_record_latency_seconds_sum", (words,)): 73.5,
        ("millrace_record_arrival_latency_seconds_count", (words,)): 350.0,
        ("millrace_state_rows", (("store", "counts"),)): 6.0,
        ("millrace_state_bytes", (("store", "counts"),)): 420.0,
        ("millrace_batch_duration_seconds", ()): 0.12,
    }
    assert {name: found.get(name) for name in expected} == expected
    assert 0.5 <= found["millrace_report_age_seconds", ()] < 60
    assert sum(value for name, value in state.items() if name in {"new", "running"}) == 1.0


def test_metrics_are_those_of_the_readers_workspaces(
    deployment: Deployment, people: People, client_of: Client
) -> None:
    reconciling.begin_run(deployment.pk, 1, "here", "boot/1", 1)
    report(f"{deployment.pk}-1", progress(int(time.time() * 1000), 100))
    assert scraped(client_of(people.outsider)) == {}
    assert client_of(None).get("/api/metrics").status_code == 401


def test_without_redis_the_answer_reports_it(
    deployment: Deployment, people: People, client_of: Client, millrace_settings: Any
) -> None:
    reconciling.begin_run(deployment.pk, 1, "here", "boot/1", 1)
    client = client_of(people.viewer)
    millrace_settings.REDIS_URL = "redis://127.0.0.1:1/0"
    redis.client.cache_clear()
    answer: Any = client.get("/api/metrics")
    redis.client.cache_clear()
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "redis_unreachable")
