"""The topology “with-user”."""

from millrace_runtime import Topology, json, string, versioned_store

topology = Topology("with-user", partitions={"orders": 3, "users": 3})

orders = topology.stream(
    "orders",
    key=string(),
    value=json("item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"),
)
# History of users
users_store = versioned_store("users", history_retention="1 day", id="history")
users = topology.table(
    "users", key=string(), value=json("name STRING, city STRING"), store=users_store
)
# Add the buyer
with_user = orders.left_join(
    users,
    grace="10 seconds",
    joiner="named_struct('item', left.item, 'city', right.city, 'at', timestamp)",
    name="with-user",
)
with_user.to("orders-with-user")


if __name__ == "__main__":
    topology.main()
