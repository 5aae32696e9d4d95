"""versions, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, string, versioned_store


def topology(job: Job) -> None:
    """Build the topology “versions”."""
    # == Sub-topology 0: 1 task, stream task ==
    with job.subtopology(0, level=0, tasks=1) as task:
        # Prices (node prices)
        prices = task.stream("prices", topics=["prices"], key=string(), value=string())
        # Prices over time (node table)
        prices_over_time = prices.to_table(
            "table", store=versioned_store("versions", history_retention=604800000)
        )
        # Orders (node orders)
        orders = task.stream("orders", topics=["orders"], key=string(), value=string())
        # Price at the time (node priced)
        price_at_the_time = orders.join_table(
            "priced", prices_over_time, type="inner", joiner="concat(left, ' at ', right)"
        )
        # To a topic (node out)
        price_at_the_time.to("out", topic="priced", key=string(), value=string())


if __name__ == "__main__":
    Job.main(topology, name="versions", tasks=1)
