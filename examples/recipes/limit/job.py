"""At most three messages of each sender and minute."""

from millrace_runtime import Processor, Topology, string, window_store

MINUTE = 60_000


class Limit(Processor):
    """Passes on the first records of each key and minute."""

    def __init__(self, most):
        self.most = most

    def init(self, context):
        self.context = context
        self.sent = context.store("sent")

    def process(self, record):
        minute = record.timestamp - record.timestamp % MINUTE
        count = (self.sent.fetch(record.key, minute) or 0) + 1
        self.sent.put(record.key, count, minute)
        if count <= self.most:
            self.context.forward(record)


topology = Topology("limit", description=__doc__)

messages = topology.stream("messages", key=string(), value=string())
sent = window_store(
    "sent",
    retention="10 minutes",
    window_size="1 minute",
    key_type="STRING",
    value_type="INT",
)

messages.process_values(Limit(most=3), stores=[sent], name="limit").to("limited-messages")


if __name__ == "__main__":
    topology.main()
