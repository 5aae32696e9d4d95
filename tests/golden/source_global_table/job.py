"""The topology “with-country”."""

from millrace_runtime import Topology, json, key_value_store, string

topology = Topology("with-country", partitions={"orders": 3, "countries": 5})

orders = topology.stream(
    "orders",
    key=string(),
    value=json("item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"),
)
countries = topology.global_table(
    "countries",
    key=string(),
    value=json("name STRING, vat INT"),
    store=key_value_store("countries", id="country-store"),
)
# Name of the country
named = orders.left_join(
    countries,
    key="value.country",
    joiner="named_struct('item', left.item, 'country', right.name)",
    name="named",
)
per_key = named.select_key("value.item", name="by-item").group_by_key().count()
updates = per_key.to_stream(name="updates")
# Again, by item
again = updates.join(
    countries, key="key", joiner="concat(CAST(left AS STRING), right.name)", name="again"
)
named.to("named-orders")
again.to("counted", name="counted")


if __name__ == "__main__":
    topology.main()
