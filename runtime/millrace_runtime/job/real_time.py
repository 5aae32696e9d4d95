"""Spark's real-time mode: its requirements, checked before the start.

The trigger is the duration of a batch. In a batch, all tasks of all levels run at the same time,
and a record passes through them when it arrives. State and offsets are saved when the batch ends.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from millrace_model.documents import DocumentSettings

from millrace_runtime.errors import MillraceError
from millrace_runtime.processor import duration

if TYPE_CHECKING:
    from millrace_runtime.job.job import Job

# Spark's minimum: at the end of a batch, all tasks end and new ones begin.
LEAST_MS = 5_000

# The default master. Many threads are cheap, because they wait for records most of the time.
MASTER = "local[64]"
# Executors of a cluster register one after the other.
CLUSTER_PATIENCE_SECONDS = 30.0
# How long a stop waits for the end of the batch, since an unfinished batch is written again.
STOP_PATIENCE_SECONDS = 15.0


def batch_ms(text: str) -> int:
    """Return the duration of a batch, such as "10 seconds", in ms.

    Raises MillraceError `option_invalid` for an invalid duration, or one below Spark's minimum.
    """
    try:
        found = duration(text if not text.strip().isdecimal() else int(text))
    except ValueError as error:
        raise MillraceError("option_invalid", f"--real-time: {error}.") from None
    if found < LEAST_MS:
        raise MillraceError(
            "option_invalid",
            f"The interval of --real-time must be at least 5 seconds, found {text!r}. It sets "
            "how often state and offsets are saved; records are always processed when they "
            "arrive.",
        )
    return found


def check_settings(settings: DocumentSettings) -> None:
    """Raise MillraceError `real_time_exactly_once` for a guarantee that is not supported."""
    if settings.get("processing_guarantee") == "exactly_once":
        raise MillraceError(
            "real_time_exactly_once",
            "Real-time mode processes records at least once, but the topology requires "
            "exactly_once. Set its processing_guarantee to at_least_once, or run it in "
            "micro-batches.",
            parameter="processing_guarantee",
        )


def check_sources(job: Job) -> None:
    """Raise MillraceError `real_time_reader` or `real_time_function` for unsupported nodes."""
    for node in job.framed:
        raise MillraceError(
            "real_time_reader",
            "Real-time mode reads only from Kafka, but this source reads a DataFrame. Run the "
            "job in micro-batches, or read a topic.",
            node=node,
        )
    for node in sorted(job.outside.functions):
        raise MillraceError(
            "real_time_function",
            "In real-time mode, there are no batches to pass to a function. Run the job in "
            "micro-batches, or write to a topic.",
            node=node,
        )


def slots_needed(job: Job, partitions: Mapping[str, int]) -> tuple[int, int]:
    """Return how many tasks run at once after `job.query()`: reading tasks, and those of levels."""
    levels = {node["level"] for node in job.graph["nodes"]}
    tasks = job.shuffle_partitions * len(levels)
    if levels and job.reads_directly:
        return 0, tasks
    # The topics of a pattern are not known here, and count as one partition.
    reading = sum(sum(partitions.get(name, 1) for name in names) or 1 for names in job.read_topics)
    return reading, tasks


def check_slots(session: Any, job: Job, partitions: Mapping[str, int]) -> None:
    """Raise MillraceError `real_time_slots` if not all tasks can run at the same time.

    Spark would wait without limit for the others, or skip their records.
    """
    reading, tasks = slots_needed(job, partitions)
    context = session.sparkContext
    local = str(context.master).startswith("local")
    deadline = time.monotonic() + (0.0 if local else CLUSTER_PATIENCE_SECONDS)
    while (found := context.defaultParallelism) < reading + tasks and time.monotonic() < deadline:
        time.sleep(0.2)
    if found >= reading + tasks:
        return
    parts = [f"{reading} to read topic-partitions"] if reading else []
    parts += [f"{tasks} for the tasks of all levels"] if tasks else []
    do = f"Start it with --master local[{reading + tasks}]" if local else "Give it more cores"
    raise MillraceError(
        "real_time_slots",
        f"In real-time mode, all tasks run at the same time. The job has {reading + tasks} tasks "
        f"({', '.join(parts)}), but {context.master} runs {found} at a time. {do}, or run the "
        "job in micro-batches.",
    )
