"""Orders of each country in a topic of its own."""

from millrace_runtime import Topology, json, string

topology = Topology("topic-per-country", description=__doc__)

orders = topology.stream("orders", key=string(), value=json("country STRING, item STRING"))

(
    orders.filter("value.country RLIKE '^[A-Z]{2}$'", name="known-country")
    # Topic of the country
    .to(topic_expression="concat('orders-', lower(value.country))")
)


if __name__ == "__main__":
    topology.main()
