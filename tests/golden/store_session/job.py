"""visits, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, json, long, session_store, string


def topology(job: Job) -> None:
    """Build the topology “visits”."""
    # == Sub-topology 0: 1 task, stream task ==
    with job.subtopology(0, level=0, tasks=1) as task:
        # Clicks (node clicks)
        clicks = task.stream("clicks", topics=["clicks"], key=string(), value=string())
        # Clicks per visit (node count)
        clicks_per_visit = clicks.count(
            "count",
            window={"type": "session", "gap": 300000, "grace": 60000},
            store=session_store("visits", retention=3600000),
        )
        # To a topic (node out)
        out_updates = clicks_per_visit.to_stream("out-to-stream", node="out")
        out_updates.to(
            "out",
            topic="visits",
            key=json("key STRING, window STRUCT<start: TIMESTAMP, end: TIMESTAMP>"),
            value=long(),
        )


if __name__ == "__main__":
    Job.main(topology, name="visits", tasks=1)
