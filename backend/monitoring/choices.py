"""Choices of the fields of figures and alerts."""

from django.db import models


class Figure(models.TextChoices):
    """The figures recorded for a running deployment."""

    NODE_IN = "node_in", "Records that entered the node, per second"
    NODE_OUT = "node_out", "Records that the node forwarded, per second"
    NODE_DROPPED = "node_dropped", "Records that the node dropped, per second"
    NODE_WARNED = "node_warned", "Records that the node rejects with a warning, per second"
    NODE_DEAD_LETTERS = "node_dead_letters", "Dead letters of the node, per second"
    DROPPED_BY_REASON = "dropped_by_reason", "Dropped records per second, by reason"
    TASK_RECORDS = "task_records", "Records that the task processed, per second"
    TASK_SKEW = "task_skew", "Share of the busiest task in the records of its sub-topology"
    TASK_LAG = "task_lag", "Unread records of the task"
    TASK_STREAM_TIME_DISTANCE = "task_stream_time_distance", "Distance of stream time from now"
    TASK_STATE_ROWS = "task_state_rows", "Rows in the stores of the task"
    LAG = "lag", "Unread records of the partition"
    LAG_TIME = "lag_time", "Age of the oldest unread record of the partition"
    LATENCY_P50 = "latency_p50", "Median latency at the node, from the records' timestamps"
    LATENCY_P99 = (
        "latency_p99",
        "99th percentile of the latency at the node, from the records' timestamps",
    )
    ARRIVAL_P50 = "arrival_p50", "Median latency at the node, from the records' arrival in Kafka"
    ARRIVAL_P99 = (
        "arrival_p99",
        "99th percentile of the latency at the node, from the records' arrival in Kafka",
    )
    STORE_ROWS = "store_rows", "Rows of the store"
    STORE_BYTES = "store_bytes", "Bytes of the store"
    BATCH_DURATION = "batch_duration", "Duration of micro-batches"
    BATCH_PHASES = "batch_phases", "Duration of the phases of micro-batches"


class Unit(models.TextChoices):
    """The unit of a figure."""

    PER_SECOND = "per_second", "Records per second"
    RECORDS = "records", "Records"
    ROWS = "rows", "Rows"
    BYTES = "bytes", "Bytes"
    PERCENT = "percent", "Percent"
    MILLISECONDS = "ms", "Milliseconds"


class Range(models.TextChoices):
    """How far back figures are shown."""

    QUARTER = "15m", "15 minutes"
    HOUR = "1h", "1 hour"
    SIX_HOURS = "6h", "6 hours"
    DAY = "24h", "24 hours"
    WEEK = "7d", "7 days"
    TWO_WEEKS = "14d", "14 days"


class Condition(models.TextChoices):
    """The condition of an alert rule."""

    FAILED = "failed", "The deployment failed"
    UNKNOWN = "unknown", "Its state is unknown"
    DEGRADED = "degraded", "It is degraded, is restarting or waits for a service"
    LAG = "lag", "Lag in records, of all partitions together"
    LAG_TIME = "lag_time", "Lag in seconds, of the partition that is furthest behind"
    LATENCY = "latency", "Latency in seconds from the record's time (p99), of the slowest node"
    ARRIVAL_LATENCY = (
        "arrival_latency",
        "Latency in seconds from the record's arrival (p99), of the slowest node",
    )
    DROPPED = "dropped", "Dropped records per second, of all nodes together"
    DEAD_LETTERS = "dead_letters", "Dead letters per second, of all nodes together"
    REJECTED = "rejected", "Records per second that rules with “Warn” reject, of all nodes together"
    BATCH_DURATION = "batch_duration", "Duration of micro-batches in seconds"
    SILENCE = "silence", "Seconds without a record"


#: conditions that need no threshold
STATES = frozenset({Condition.FAILED, Condition.UNKNOWN, Condition.DEGRADED})


class AlertState(models.TextChoices):
    """Whether an alert's condition still holds."""

    FIRING = "firing", "Firing"
    RESOLVED = "resolved", "Resolved"


class AlertEvent(models.TextChoices):
    """The occasion of a notification."""

    FIRED = "fired", "Fired"
    RESOLVED = "resolved", "Resolved"
    TEST = "test", "Test"


class Channel(models.TextChoices):
    """How a notification is sent."""

    WEBHOOK = "webhook", "Webhook"
    MAIL = "mail", "Mail"


class DeliveryState(models.TextChoices):
    """Progress of a notification."""

    WAITING = "waiting", "Waiting"
    SENT = "sent", "Sent"
    FAILED = "failed", "Failed"


class MoveReason(models.TextChoices):
    """Why a task runs where it does."""

    START = "start", "The deployment started"
    VERSION = "version", "Another version started"
    CRASH = "crash", "The previous driver was lost or failed"
    OUTAGE = "outage", "The previous driver ended in an outage"
    SCALE = "scale", "Executors joined or left"
    MOVED = "moved", "Spark moved it"
