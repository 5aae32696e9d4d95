"""two-shops, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, json, string


def topology(job: Job) -> None:
    """Build the topology “two-shops”."""
    # == Sub-topology 0: 3 tasks, stream task ==
    with job.subtopology(0, level=0, tasks=3) as task:
        # Orders (node orders)
        orders = task.stream(
            "orders",
            topics=["north", "south"],
            key=string(),
            value=json(
                "item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"
            ),
            timestamp="value.ordered_at",
            invalid_timestamp="skip",
            start="latest",
        )
        # All orders (node all)
        orders.to(
            "all",
            topic="all-orders",
            key=string(),
            value=json(
                "item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"
            ),
        )

    # == Sub-topology 1: 1 task, stream task ==
    with job.subtopology(1, level=0, tasks=1) as task:
        # Logs of all regions (node logs)
        logs_of_all_regions = task.stream("logs", pattern="logs-.*", key=string(), value=string())
        # To a topic (node log)
        logs_of_all_regions.to("log", topic="all-logs", key=string(), value=string())


if __name__ == "__main__":
    Job.main(topology, name="two-shops", tasks=3)
