"""current-prices, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, json, key_value_store, string


def topology(job: Job) -> None:
    """Build the topology “current-prices”."""
    # == Sub-topology 0: 2 tasks, stream task ==
    with job.subtopology(0, level=0, tasks=2) as task:
        # Prices (node prices)
        prices = task.table(
            "prices",
            topic="prices",
            key=string(),
            value=json("cents BIGINT, currency STRING"),
            store=key_value_store("prices", node="prices-store"),
        )
        # Changes (node changes)
        changes = prices.to_stream("changes")
        # To a topic (node out)
        changes.to(
            "out", topic="price-changes", key=string(), value=json("cents BIGINT, currency STRING")
        )


if __name__ == "__main__":
    Job.main(topology, name="current-prices", tasks=2)
