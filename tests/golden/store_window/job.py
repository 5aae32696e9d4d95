"""per-hour, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, json, long, string, window_store


def topology(job: Job) -> None:
    """Build the topology “per-hour”."""
    # == Sub-topology 0: 1 task, stream task ==
    with job.subtopology(0, level=0, tasks=1) as task:
        # Lines (node lines)
        lines = task.stream("lines", topics=["lines"], key=string(), value=string())
        # Per hour (node count)
        per_hour = lines.count(
            "count",
            window={"type": "hopping", "size": 3600000, "advance": 900000, "grace": 0},
            store=window_store("hours", retention=86400000),
        )
        # To a topic (node out)
        out_updates = per_hour.to_stream("out-to-stream", node="out")
        out_updates.to(
            "out",
            topic="hours",
            key=json("key STRING, window STRUCT<start: TIMESTAMP, end: TIMESTAMP>"),
            value=long(),
        )


if __name__ == "__main__":
    Job.main(topology, name="per-hour", tasks=1)
