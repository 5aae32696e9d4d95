"""Payments without those whose id was there in the hour before."""

from millrace_runtime import Processor, Topology, json, string, window_store

HOUR = 3_600_000


class Once(Processor):
    """Passes on the first record of each id within an hour."""

    def init(self, context):
        self.context = context
        self.seen = context.store("seen")

    def process(self, record):
        payment, at = record.value.id, record.timestamp
        if any(self.seen.fetch(payment, max(at - HOUR, 0), at + HOUR)):
            return
        self.seen.put(payment, True, at)
        self.context.forward(record)


topology = Topology("duplicates", description=__doc__)

payments = topology.stream("payments", key=string(), value=json("id STRING, amount INT"))
seen = window_store(
    "seen",
    retention="2 hours",
    window_size="1 hour",
    key_type="STRING",
    value_type="BOOLEAN",
)

payments.process_values(Once, stores=[seen], name="once").to("unique-payments")


if __name__ == "__main__":
    topology.main()
