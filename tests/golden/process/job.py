"""The topology “deduplicate”."""

from millrace_runtime import STREAM_TIME, Processor, Topology, key_value_store, string


class Deduplicate(Processor):
    """Passes on the first record of each key within ten minutes."""

    def init(self, context):
        self.context = context
        self.seen = context.store("seen")
        context.schedule("1 minute", STREAM_TIME, self.forget)

    def process(self, record):
        if self.seen.get(record.key) is None:
            self.context.forward(record, to="first")
        else:
            self.context.forward(record, to="repeated")
        self.seen.put(record.key, record.timestamp)

    def forget(self, timestamp):
        for key, last in list(self.seen.all()):
            if last < timestamp - 600_000:
                self.seen.delete(key)


topology = Topology("deduplicate")

events = topology.stream("events", key=string(), value=string())
# More events
more = topology.stream("more-events", key=string(), value=string(), name="more")
seen_store = key_value_store("seen", key_type="STRING", value_type="BIGINT")
# Deduplicate
dedupe = events.process(
    Deduplicate,
    key_type="STRING",
    value_type="STRING",
    outputs=["first", "repeated"],
    stores=[seen_store],
    also=[more],
    name="dedupe",
)
dedupe["first"].to("distinct-events")
# Repeated
dedupe["repeated"].print(name="log")


if __name__ == "__main__":
    topology.main()
