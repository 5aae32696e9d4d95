"""Readings without those that are the same as the one before."""

from millrace_runtime import Processor, Topology, double, key_value_store, string


class OnlyChanges(Processor):
    """Passes on a record if its value is not that of the key's last record."""

    def init(self, context):
        self.context = context
        self.last = context.store("last")

    def process(self, record):
        if record.value != self.last.get(record.key):
            self.last.put(record.key, record.value)
            self.context.forward(record)


topology = Topology("only-changes", description=__doc__)

readings = topology.stream("readings", key=string(), value=double())
last = key_value_store("last", key_type="STRING", value_type="DOUBLE")

readings.process_values(OnlyChanges, stores=[last], name="changes").to("changes")


if __name__ == "__main__":
    topology.main()
