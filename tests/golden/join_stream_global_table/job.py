"""local-prices, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, double, json, string


def topology(job: Job) -> None:
    """Build the topology “local-prices”."""
    # == Sub-topology 0: 1 task, stream task ==
    with job.subtopology(0, level=0, tasks=1) as task:
        # Rates (node rates)
        rates = task.global_table("rates", topic="rates", key=string(), value=double())
        # Orders (node orders)
        orders = task.stream(
            "orders",
            topics=["orders"],
            key=string(),
            value=json(
                "item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"
            ),
        )
        # In local money (node local)
        in_local_money = orders.join_global(
            "local", rates, type="inner", key="value.country", joiner="left.price * right"
        )
        # To a topic (node out)
        in_local_money.to("out", topic="local-prices", key=string(), value=double())


if __name__ == "__main__":
    Job.main(topology, name="local-prices", tasks=1)
