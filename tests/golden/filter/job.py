"""big-orders, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, filter_, json, string


def topology(job: Job) -> None:
    """The topology “big-orders”."""
    # == Sub-topology 0: 3 tasks, plain DataFrame ==
    # Orders [orders]
    orders = job.read_stream(
        "orders",
        topics=["orders"],
        key=string(),
        value=json("item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"),
    )
    # Big ones [big]
    big_ones = orders.transform(filter_("big", "value.quantity > 10"))
    # Big orders [out]
    job.write(
        "out",
        big_ones,
        topic="big-orders",
        key=string(),
        value=json("item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"),
    )


if __name__ == "__main__":
    Job.main(topology, name="big-orders", tasks=3)
