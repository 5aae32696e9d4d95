"""orders-of-customers, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, json, string


def topology(job: Job) -> None:
    """Build the topology “orders-of-customers”."""
    # == Sub-topology 0: 4 tasks, stream task, level 0 ==
    with job.subtopology(0, level=0, tasks=4) as task:
        # Orders (node orders)
        orders = task.table(
            "orders", topic="orders", key=string(), value=json("customer STRING, cents BIGINT")
        )
        # With the customer (node owned)
        orders.foreign_key_subscribe(
            "owned-subscription-registration",
            foreign_key="value.customer",
            type="left",
            partitions=2,
            node="owned",
        )

    # == Sub-topology 1: 2 tasks, stream task, level 1 ==
    with job.subtopology(1, level=1, tasks=2) as task:
        # Customers (node customers)
        customers = task.table(
            "customers", topic="customers", key=string(), value=json("name STRING")
        )
        # With the customer (node owned)
        task.foreign_key_lookup(
            "owned-subscription-response",
            subscription="owned-subscription-registration",
            right=customers,
            type="left",
            partitions=4,
            node="owned",
        )

    # == Sub-topology 0: 4 tasks, stream task, level 2 ==
    with job.subtopology(0, level=2, tasks=4) as task:
        # With the customer (node owned)
        with_the_customer = task.foreign_key_resolve(
            "owned",
            response="owned-subscription-response",
            left=orders,
            type="left",
            joiner="named_struct('name', right.name, 'cents', left.cents)",
        )
        # To a topic (node out)
        out_updates = with_the_customer.to_stream("out-to-stream", node="out")
        out_updates.to(
            "out",
            topic="orders-with-customer",
            key=string(),
            value=json("name STRING, cents BIGINT"),
        )


if __name__ == "__main__":
    Job.main(topology, name="orders-of-customers", tasks=4)
