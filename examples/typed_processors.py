"""Orders with the country of their customer, by processors that a type checker understands.

    python typed_processors.py --bootstrap-servers localhost:9092 --checkpoint /tmp/countries

`mypy --strict` accepts this file.
"""

from __future__ import annotations

from millrace_runtime import (
    KeyValueStore,
    Processor,
    ProcessorContext,
    ReadOnlyKeyValueStore,
    Record,
    Struct,
    Topology,
    json,
    key_value_store,
    string,
)


class KeepRates(Processor):
    """Keeps the rate of each currency that is not too old."""

    def init(self, context: ProcessorContext[None, None]) -> None:
        self.rates = context.store("rates", KeyValueStore[str, float])

    def process(self, record: Record[str, Struct]) -> None:
        self.rates.put(record.key, record.value.rate)


class Enrich(Processor):
    """Adds the customer's country and the amount in euros to large orders."""

    def __init__(self, threshold: float = 0.0) -> None:
        self.threshold = threshold

    def init(self, context: ProcessorContext[str, dict[str, object]]) -> None:
        self.context = context
        self.customers = context.store("customers", ReadOnlyKeyValueStore[str, Struct])
        self.rates = context.store("rates", ReadOnlyKeyValueStore[str, float])

    def process(self, record: Record[str, Struct]) -> None:
        order = record.value
        customer = self.customers.get(record.key)
        amount = order.amount * (self.rates.get(order.currency) or 1.0)
        if amount >= self.threshold:
            country = customer.country if customer is not None else None
            self.context.forward(record.replace(value={"country": country, "amount": amount}))


topology = Topology("typed-processors")

rates = key_value_store("rates", key_type="STRING", value_type="DOUBLE")
topology.add_global_store("rates", rates, KeepRates, key=string(), value=json("rate DOUBLE"))
customers = topology.table(
    "customers", key=string(), value=json("country STRING"), name="customers"
)
orders = topology.stream("orders", key=string(), value=json("currency STRING, amount DOUBLE"))
large = orders.process(
    Enrich(threshold=100.0),
    key_type="STRING",
    value_type="STRUCT<country: STRING, amount: DOUBLE>",
    stores=[customers, rates],
)
large.to("large-orders")

if __name__ == "__main__":
    topology.main()
