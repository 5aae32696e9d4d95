"""with-user, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, json, string, versioned_store


def topology(job: Job) -> None:
    """Build the topology “with-user”."""
    # == Sub-topology 0: 3 tasks, stream task ==
    with job.subtopology(0, level=0, tasks=3) as task:
        # Orders (node orders)
        orders = task.stream(
            "orders",
            topics=["orders"],
            key=string(),
            value=json(
                "item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"
            ),
        )
        # Users (node users)
        users = task.table(
            "users",
            topic="users",
            key=string(),
            value=json("name STRING, city STRING"),
            store=versioned_store("users", node="history", history_retention=86400000),
        )
        # Add the buyer (node with-user)
        add_the_buyer = orders.join_table(
            "with-user",
            users,
            type="left",
            joiner="named_struct('item', left.item, 'city', right.city, 'at', timestamp)",
            grace=10000,
        )
        # To a topic (node out)
        add_the_buyer.to(
            "out",
            topic="orders-with-user",
            key=string(),
            value=json("item STRING, city STRING, at TIMESTAMP"),
        )


if __name__ == "__main__":
    Job.main(topology, name="with-user", tasks=3)
