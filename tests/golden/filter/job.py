"""big-orders, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, filter_, json, string


def topology(job: Job) -> None:
    """Build the topology “big-orders”."""
    # == Sub-topology 0: 3 tasks, plain DataFrame ==
    # Orders (node orders)
    orders = job.read_stream(
        "orders",
        topics=["orders"],
        key=string(),
        value=json("item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"),
    )
    # Big ones (node big)
    big_ones = orders.transform(filter_("big", "value.quantity > 10"))
    # Big orders (node out)
    job.write(
        "out",
        big_ones,
        topic="big-orders",
        key=string(),
        value=json("item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"),
    )


if __name__ == "__main__":
    Job.main(topology, name="big-orders", tasks=3)
