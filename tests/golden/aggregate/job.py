"""sessions, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, json, session_store, string


def topology(job: Job) -> None:
    """Build the topology “sessions”."""
    # == Sub-topology 0: 1 task, stream task ==
    with job.subtopology(0, level=0, tasks=1) as task:
        # Clicks (node clicks)
        clicks = task.stream(
            "clicks", topics=["clicks"], key=string(), value=json("page STRING, ms BIGINT")
        )
        # Per visit (node session)
        per_visit = clicks.aggregate(
            "session",
            type="STRUCT<pages: BIGINT, ms: BIGINT>",
            initializer="named_struct('pages', 0L, 'ms', 0L)",
            aggregator="named_struct('pages', agg.pages + 1L, 'ms', agg.ms + value.ms)",
            merger="named_struct('pages', left.pages + right.pages, 'ms', left.ms + right.ms)",
            window={"type": "session", "gap": 1800000, "grace": 0},
            store=session_store("visits"),
        )
        # To a topic (node out)
        out_updates = per_visit.to_stream("out-to-stream", node="out")
        out_updates.to(
            "out",
            topic="visits",
            key=json("key STRING, window STRUCT<start: TIMESTAMP, end: TIMESTAMP>"),
            value=json("pages BIGINT, ms BIGINT"),
        )


if __name__ == "__main__":
    Job.main(topology, name="sessions", tasks=1)
