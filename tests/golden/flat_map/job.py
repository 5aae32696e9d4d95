"""The topology “items-of-baskets”."""

from millrace_runtime import Topology, json, string

topology = Topology("items-of-baskets")

baskets = topology.stream(
    "baskets", key=string(), value=json("ARRAY<STRUCT<item: STRING, count: INT>>")
)
items = baskets.flat_map(
    "transform(value, i -> named_struct('key', i.item, 'value', i.count))", name="items"
)
items.to("items")


if __name__ == "__main__":
    topology.main()
