"""highest-bid, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, json, long, string, window_store


def topology(job: Job) -> None:
    """Build the topology “highest-bid”."""
    # == Sub-topology 0: 1 task, stream task ==
    with job.subtopology(0, level=0, tasks=1) as task:
        # Bids (node bids)
        bids = task.stream("bids", topics=["bids"], key=string(), value=long())
        # Highest (node highest)
        highest = bids.reduce(
            "highest",
            reducer="greatest(agg, value)",
            window={"type": "tumbling", "size": 60000, "grace": 5000},
            emit="window_close",
            store=window_store("highest", node="w", retention=600000),
        )
        # To a topic (node out)
        out_updates = highest.to_stream("out-to-stream", node="out")
        out_updates.to(
            "out",
            topic="highest",
            key=json("key STRING, window STRUCT<start: TIMESTAMP, end: TIMESTAMP>"),
            value=long(),
        )


if __name__ == "__main__":
    Job.main(topology, name="highest-bid", tasks=1)
