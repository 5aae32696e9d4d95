"""The topology “source-global-store”."""

from millrace_runtime import Processor, Topology, double, key_value_store, string


class KeepRates(Processor):
    def init(self, context):
        self.rates = context.store("rates")

    def process(self, record):
        self.rates.put(record.key, record.value)


class AddRate(Processor):
    def init(self, context):
        self.context = context
        self.rates = context.store("rates")

    def process(self, record):
        self.context.forward(record.replace(value=self.rates.get(record.key)))


topology = Topology("source-global-store", labels=False)

rates_store = key_value_store("rates", key_type="STRING", value_type="DOUBLE")
topology.add_global_store("rates", rates_store, KeepRates, key=string(), value=double())
orders = topology.stream("orders", key=string(), value=string())
rated = orders.process_values(AddRate, value_type="DOUBLE", stores=[rates_store], name="rated")
rated.to("order-rates", name="order-rates")


if __name__ == "__main__":
    topology.main()
