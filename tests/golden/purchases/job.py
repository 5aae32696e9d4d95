"""purchases-per-hour, a topology of Millrace as a PySpark job.

Purchases per hour whose buyer lives where the item is made.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, json, long, string, window_store


def topology(job: Job) -> None:
    """Build the topology “purchases-per-hour”."""
    # == Sub-topology 0: 3 tasks, stream task, level 0 ==
    with job.subtopology(0, level=0, tasks=3) as task:
        # Orders (node orders)
        orders = task.stream(
            "orders",
            topics=["orders"],
            key=string(),
            value=json("user STRING, item STRING, quantity INT, ordered_at BIGINT"),
            timestamp="value.ordered_at",
        )
        # Users (node users)
        users = task.table(
            "users", topic="users", key=string(), value=json("name STRING, city STRING")
        )
        # Add the buyer (node with-user)
        add_the_buyer = orders.join_table(
            "with-user",
            users,
            type="left",
            joiner="named_struct('item', left.item, 'quantity', left.quantity, 'user_city', right.city)",
        )
        # Buyer is known (node known)
        buyer_is_known = add_the_buyer.filter("known", "value.user_city IS NOT NULL")
        # Key by item (node by-item)
        key_by_item = buyer_is_known.select_key("by-item", "value.item")
        # Add the item (node with-item)
        key_by_item.repartition("with-item-repartition", partitions=6, node="with-item")

    # == Sub-topology 1: 6 tasks, stream task, level 1 ==
    with job.subtopology(1, level=1, tasks=6) as task:
        # Items (node items)
        items = task.table(
            "items",
            topic="items",
            key=string(),
            value=json("name STRING, city STRING, price DOUBLE"),
        )
        # Add the item (node with-item)
        add_the_item_repartitioned = task.repartitioned("with-item-repartition", node="with-item")
        add_the_item = add_the_item_repartitioned.join_table(
            "with-item",
            items,
            type="inner",
            joiner="named_struct('item', left.item, 'quantity', left.quantity, 'user_city', left.user_city, 'item_city', right.city)",
        )
        # Bought where it is made (node near)
        bought_where_it_is_made = add_the_item.filter("near", "value.user_city = value.item_city")
        # Purchases per hour (node per-hour)
        purchases_per_hour_key = bought_where_it_is_made.select_key(
            "per-hour-key", "'all'", node="per-hour"
        )
        purchases_per_hour_key.repartition("per-hour-repartition", partitions=6, node="per-hour")

    # == Sub-topology 2: 6 tasks, stream task, level 2 ==
    with job.subtopology(2, level=2, tasks=6) as task:
        # Purchases per hour (node per-hour)
        purchases_per_hour_repartitioned = task.repartitioned(
            "per-hour-repartition", node="per-hour"
        )
        purchases_per_hour = purchases_per_hour_repartitioned.count(
            "per-hour",
            window={"type": "tumbling", "size": 3600000, "grace": 0},
            store=window_store("purchases-per-hour", node="hours"),
        )
        # Updates (node updates)
        updates = purchases_per_hour.to_stream("updates")
        # Purchases per hour (node out)
        updates.to(
            "out",
            topic="purchases-per-hour",
            key=json("key STRING, window STRUCT<start: TIMESTAMP, end: TIMESTAMP>"),
            value=long(),
        )


if __name__ == "__main__":
    Job.main(
        topology,
        name="purchases-per-hour",
        settings={"processing_guarantee": "exactly_once"},
        tasks=6,
    )
