"""Metrics of deployments in the text format of Prometheus.

Metrics that Kafka Streams has as well get the names and labels that the usual rules of Prometheus'
exporter give to its JMX beans; the others begin with `millrace_`.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from millrace_model.events import Durations, Latency, RuntimeJson
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from deployments.choices import Observed
from deployments.models import Deployment
from deployments.runtime import places_of, read_runtime

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
#: labels of the deployment; others follow
LABELS = ("workspace", "topology", "deployment")
_NODE = (*LABELS, "processor_node_id")
_TASK = (*LABELS, "task_id")
_PARTITION = (*LABELS, "topic", "partition")
_STORE = (*LABELS, "store")

Values = Sequence[str]


def exposition(deployments: Iterable[Deployment]) -> bytes:
    """Return the metrics of these deployments.

    Raises redis.RedisError if Redis does not respond.
    """
    now = time.time() * 1000
    found = []
    for row in deployments:
        labels = (row.workspace.slug, row.topology.name, str(row.pk))
        run = row.live_run
        report = None if run is None else read_runtime(row.pk, run.report_id, now)
        found.append((labels, str(row.observation.state), report))
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Figures(found, now))
    return generate_latest(registry)


#: bounds of buckets; all nodes have the same ones, so that their histograms can be added
_BOUNDS_MS = [1 << power for power in range(0, 25, 2)]


def _add(family: HistogramMetricFamily, labels: Values, durations: Durations) -> None:
    """Add the histogram of a node, with a bucket for every other power of two."""
    counts = [
        (str(bound / 1000), sum(n for below, n in durations["buckets"] if below <= bound))
        for bound in _BOUNDS_MS
    ]
    family.add_metric(
        labels, [*counts, ("+Inf", durations["count"])], sum_value=durations["sum"] / 1000
    )


class _Figures(Collector):
    """Collects families of metrics, with a sample for each report."""

    def __init__(self, found: Sequence[tuple[Values, str, RuntimeJson | None]], now: float) -> None:
        self._found, self._now = found, now

    def collect(self) -> Iterator[Metric]:
        """Yield all families except those without a sample."""
        state = GaugeMetricFamily(
            "millrace_deployment_state",
            "1 for the deployment's current state.",
            labels=(*LABELS, "state"),
        )
        for labels, observed, _ in self._found:
            for each in Observed.values:
                state.add_metric([*labels, each], float(each == observed))
        yield state
        for family in (*self._nodes(), *self._latencies(), *self._tasks(), *self._deployment()):
            if family.samples:
                yield family

    def _reports(self) -> Iterator[tuple[Values, RuntimeJson]]:
        for labels, _, report in self._found:
            if report is not None:
                yield labels, report

    def _nodes(self) -> Iterable[Metric]:
        into = CounterMetricFamily(
            "kafka_streams_stream_processor_node_metrics_process",
            "Records that entered the node since the run started.",
            labels=_NODE,
        )
        out = CounterMetricFamily(
            "kafka_streams_stream_processor_node_metrics_forward",
            "Records that the node forwarded since the run started.",
            labels=_NODE,
        )
        dropped = CounterMetricFamily(
            "millrace_dropped_records",
            "Records that ended at the node since the run started.",
            labels=(*_NODE, "reason"),
        )
        misses = CounterMetricFamily(
            "millrace_join_misses",
            "Records for which the inner join found nothing on the other side.",
            labels=(*_NODE, "reason"),
        )
        rejected = CounterMetricFamily(
            "millrace_rejected_records",
            "Records that the node's rule rejects and forwards; reason `rejected` or `warned`.",
            labels=(*_NODE, "reason"),
        )
        letters = CounterMetricFamily(
            "millrace_dead_letters",
            "Records sent to the dead letter topic since the run started.",
            labels=_NODE,
        )
        for labels, report in self._reports():
            for name, node in report["nodes"].items():
                into.add_metric([*labels, name], node["in"])
                out.add_metric([*labels, name], node["out"])
                letters.add_metric([*labels, name], node["dead_letters"])
                for reason, count in node["dropped"].items():
                    dropped.add_metric([*labels, name, reason], count)
                for reason, count in node["misses"].items():
                    found = rejected if reason in ("rejected", "warned") else misses
                    found.add_metric([*labels, name, reason], count)
        return into, out, dropped, misses, rejected, letters

    def _latencies(self) -> Iterable[Metric]:
        """Return gauges of the last ten seconds, like Kafka Streams, and histograms of the run."""
        found = {
            each: GaugeMetricFamily(
                f"kafka_streams_stream_processor_node_metrics_record_e2e_latency_{each}",
                f"Latency from the record's timestamp, in ms ({each}).",
                labels=_NODE,
            )
            for each in ("avg", "min", "max")
        }
        event = HistogramMetricFamily(
            "millrace_record_latency_seconds", "Latency from the record's timestamp.", labels=_NODE
        )
        arrival = HistogramMetricFamily(
            "millrace_record_arrival_latency_seconds",
            "Latency from the arrival of the input record in Kafka.",
            labels=_NODE,
        )
        for labels, report in self._reports():
            for name, node in report["nodes"].items():
                latency: Latency = node["latency"] or {}
                measured = latency.get("event"), latency.get("arrival")
                for histogram, durations in zip((event, arrival), measured, strict=True):
                    if durations is not None and durations["count"]:
                        _add(histogram, [*labels, name], durations)
                for each, gauge in found.items():
                    value = None if measured[0] is None else measured[0].get(each)
                    if isinstance(value, int | float):
                        gauge.add_metric([*labels, name], value)
        return event, arrival, *found.values()

    def _tasks(self) -> Iterable[Metric]:
        processed = CounterMetricFamily(
            "kafka_streams_stream_task_metrics_process",
            "Records that the task processed since the run started.",
            labels=_TASK,
        )
        clock = GaugeMetricFamily(
            "millrace_stream_time_seconds",
            "Stream time of the task, since the epoch.",
            labels=_TASK,
        )
        lag = GaugeMetricFamily(
            "kafka_consumer_fetch_manager_metrics_records_lag",
            "Unread records of the partition.",
            labels=_PARTITION,
        )
        for labels, report in self._reports():
            for task in report["tasks"]:
                processed.add_metric([*labels, task["task"]], task["records"])
                if task["stream_time"] is not None:
                    clock.add_metric([*labels, task["task"]], task["stream_time"] / 1000)
            for each in places_of(report):
                behind = each.get("lag")
                if behind is not None:
                    place = [each["topic"], str(each["partition"])]
                    lag.add_metric([*labels, *place], behind)
        return processed, clock, lag

    def _deployment(self) -> Iterable[Metric]:
        rows = GaugeMetricFamily("millrace_state_rows", "Rows of the store.", labels=_STORE)
        size = GaugeMetricFamily("millrace_state_bytes", "Bytes of the store.", labels=_STORE)
        batch = GaugeMetricFamily(
            "millrace_batch_duration_seconds", "Of the last micro-batch.", labels=LABELS
        )
        age = GaugeMetricFamily(
            "millrace_report_age_seconds", "Since the driver's last report.", labels=LABELS
        )
        for labels, report in self._reports():
            # An operator without a store node may have the name of another one's store.
            of_rows, of_bytes = Counter[str](), Counter[str]()
            for store in report["stores"]:
                of_rows[store["name"]] += store.get("rows") or 0
                of_bytes[store["name"]] += store.get("bytes") or 0
            for family, totals in ((rows, of_rows), (size, of_bytes)):
                for name, total in totals.items():
                    family.add_metric([*labels, name], total)
            if report["duration_ms"] is not None:
                batch.add_metric(labels, report["duration_ms"] / 1000)
            age.add_metric(labels, max(0.0, (self._now - report["at"]) / 1000))
        return rows, size, batch, age
