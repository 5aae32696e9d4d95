"""Purchases per hour whose buyer lives where the item is made."""

from millrace_runtime import Topology, json, long, string, tumbling, window_store

topology = Topology(
    "purchases-per-hour",
    description=__doc__,
    partitions={"orders": 3, "users": 3, "items": 6},
    processing_guarantee="exactly_once",
)

orders = topology.stream(
    "orders",
    key=string(),
    value=json("user STRING, item STRING, quantity INT, ordered_at BIGINT"),
    timestamp="value.ordered_at",
)
users = topology.table("users", key=string(), value=json("name STRING, city STRING"))
items = topology.table("items", key=string(), value=json("name STRING, city STRING, price DOUBLE"))
# Purchases
purchases_per_hour_store = window_store("purchases-per-hour", id="hours")

per_hour = (
    # Add the buyer
    orders.left_join(
        users,
        joiner=(
            "named_struct('item', left.item, 'quantity', left.quantity, 'user_city', right.city)"
        ),
        name="with-user",
    )
    # Buyer is known
    .filter("value.user_city IS NOT NULL", name="known")
    # Key by item
    .select_key("value.item", name="by-item")
    # Add the item
    .join(
        items,
        joiner=(
            "named_struct('item', left.item, 'quantity', left.quantity, 'user_city', "
            "left.user_city, 'item_city', right.city)"
        ),
        name="with-item",
    )
    # Bought where it is made
    .filter("value.user_city = value.item_city", name="near")
    # Purchases per hour
    .group_by("'all'")
    .windowed_by(tumbling("1 hour"))
    .count(store=purchases_per_hour_store, name="per-hour")
)

updates = per_hour.to_stream(name="updates")
# Purchases per hour
updates.to("purchases-per-hour", value=long())


if __name__ == "__main__":
    topology.main()
