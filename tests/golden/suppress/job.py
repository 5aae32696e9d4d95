"""final-counts, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, json, long, string


def topology(job: Job) -> None:
    """Build the topology “final-counts”."""
    # == Sub-topology 0: 1 task, stream task ==
    with job.subtopology(0, level=0, tasks=1) as task:
        # Views (node views)
        views = task.stream("views", topics=["views"], key=string(), value=string())
        # Per minute (node count)
        per_minute = views.count(
            "count", window={"type": "tumbling", "size": 60000, "grace": 10000}
        )
        # Final only (node final)
        final_only = per_minute.suppress("final", until="window_closes", when_full="fail")
        # To a topic (node out)
        out_updates = final_only.to_stream("out-to-stream", node="out")
        out_updates.to(
            "out",
            topic="views-per-minute",
            key=json("key STRING, window STRUCT<start: TIMESTAMP, end: TIMESTAMP>"),
            value=long(),
        )


if __name__ == "__main__":
    Job.main(topology, name="final-counts", tasks=1)
