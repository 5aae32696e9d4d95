"""routes, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, json, string


def topology(job: Job) -> None:
    """Build the topology “routes”."""
    # == Sub-topology 0: 1 task, stream task ==
    with job.subtopology(0, level=0, tasks=1) as task:
        # Orders (node orders)
        orders = task.stream(
            "orders",
            topics=["orders"],
            key=string(),
            value=json(
                "item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"
            ),
        )
        # By size (node route)
        by_size = orders.split(
            "route",
            branches=[("big", "value.quantity > 100"), ("small", "value.quantity <= 100")],
            default_port="strange",
        )
        # To a topic (node bulk)
        by_size["big"].to(
            "bulk",
            topic="bulk",
            key=string(),
            value=json(
                "item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"
            ),
        )
        # To a topic (node retail)
        by_size["small"].to(
            "retail",
            topic="retail",
            key=string(),
            value=json(
                "item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"
            ),
        )
        # Odd ones (node odd)
        by_size["strange"].print_("odd", label="odd")


if __name__ == "__main__":
    Job.main(topology, name="routes", tasks=1)
