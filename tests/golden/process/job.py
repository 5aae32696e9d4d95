"""deduplicate, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, key_value_store, string

DEDUPLICATE_CODE = '''\
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
'''


def topology(job: Job) -> None:
    """Build the topology “deduplicate”."""
    # == Sub-topology 0: 1 task, stream task ==
    with job.subtopology(0, level=0, tasks=1) as task:
        # Events (node events)
        events = task.stream("events", topics=["events"], key=string(), value=string())
        # More events (node more)
        more_events = task.stream("more", topics=["more-events"], key=string(), value=string())
        # Deduplicate (node dedupe)
        deduplicate_merge = events.merge("dedupe-merge", more_events, node="dedupe")
        deduplicate = deduplicate_merge.process(
            "dedupe",
            code=DEDUPLICATE_CODE,
            class_name="Deduplicate",
            output={"key": "STRING", "value": "STRING"},
            outputs=["first", "repeated"],
            stores=[key_value_store("seen", key_type="STRING", value_type="BIGINT")],
        )
        # To a topic (node out)
        deduplicate["first"].to("out", topic="distinct-events", key=string(), value=string())
        # Repeated (node log)
        deduplicate["repeated"].print_("log")


if __name__ == "__main__":
    Job.main(topology, name="deduplicate", tasks=1)
