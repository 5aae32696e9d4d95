"""The topology “readable”."""

from millrace_runtime import Topology, json, string

TEXT_EXPRESSION = """\
CASE
  WHEN value.quantity = 1 THEN concat('one ', value.item)
  ELSE concat(value.quantity, ' × "', value.item, '"')
END"""

topology = Topology("readable")

orders = topology.stream(
    "orders",
    key=string(),
    value=json("item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"),
)
# As a sentence
text = orders.map_values(TEXT_EXPRESSION, name="text")
text.to("sentences")


if __name__ == "__main__":
    topology.main()
