"""paid-orders, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, json, select_key, string


def topology(job: Job) -> None:
    """Build the topology “paid-orders”."""
    # == Sub-topology 1: 6 tasks, plain DataFrame ==
    # Payments (node payments)
    payments = job.read_stream(
        "payments", topics=["payments"], key=string(), value=json("order STRING, cents BIGINT")
    )
    # By order (node by-order)
    by_order = payments.transform(select_key("by-order", "value.order"))
    # Paid within an hour (node paid)
    job.repartition(
        "paid-right-repartition", by_order, partitions=3, keep_null_keys=True, node="paid"
    )

    # == Sub-topology 0: 3 tasks, stream task, level 1 ==
    with job.subtopology(0, level=1, tasks=3) as task:
        # Orders (node orders)
        orders = task.stream(
            "orders",
            topics=["orders"],
            key=string(),
            value=json(
                "item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"
            ),
        )
        # Paid within an hour (node paid)
        paid_within_an_hour_right_repartitioned = task.repartitioned(
            "paid-right-repartition", node="paid"
        )
        paid_within_an_hour = orders.join_stream(
            "paid",
            paid_within_an_hour_right_repartitioned,
            type="left",
            before=0,
            after=3600000,
            grace=300000,
            joiner="named_struct('item', left.item, 'paid', coalesce(right.cents, 0L))",
        )
        # To a topic (node out)
        paid_within_an_hour.to(
            "out", topic="paid-orders", key=string(), value=json("item STRING, paid BIGINT")
        )


if __name__ == "__main__":
    Job.main(topology, name="paid-orders", tasks=6)
