"""item-and-price, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, double, json, map_, string


def topology(job: Job) -> None:
    """Build the topology “item-and-price”."""
    # == Sub-topology 0: 1 task, plain DataFrame ==
    # Orders (node orders)
    orders = job.read_stream(
        "orders",
        topics=["orders"],
        key=string(),
        value=json("item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"),
    )
    # Item and price (node priced)
    item_and_price = orders.transform(
        map_("priced", key="value.item", value="value.price * value.quantity")
    )
    # To a topic (node out)
    job.write("out", item_and_price, topic="priced", key=string(), value=double())


if __name__ == "__main__":
    Job.main(topology, name="item-and-price", tasks=1)
