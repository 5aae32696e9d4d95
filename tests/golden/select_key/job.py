"""by-country, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, json, select_key, string


def topology(job: Job) -> None:
    """Build the topology “by-country”."""
    # == Sub-topology 0: 1 task, plain DataFrame ==
    # Orders (node orders)
    orders = job.read_stream(
        "orders",
        topics=["orders"],
        key=string(),
        value=json("item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"),
    )
    # By country (node keyed)
    by_country = orders.transform(select_key("keyed", "value.country"))
    # To a topic (node out)
    job.write(
        "out",
        by_country,
        topic="by-country",
        key=string(),
        value=json("item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"),
        partition="pmod(hash(key), 3)",
    )


if __name__ == "__main__":
    Job.main(topology, name="by-country", tasks=1)
