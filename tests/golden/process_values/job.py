"""trimmed, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, long, string

TRIM_CODE = """\
class Trim(Processor):
    def init(self, context):
        self.context = context

    def process(self, record):
        self.context.forward(record.replace(value=record.value.strip()))
"""


def topology(job: Job) -> None:
    """Build the topology “trimmed”."""
    # == Sub-topology 0: 1 task, stream task ==
    with job.subtopology(0, level=0, tasks=1) as task:
        # Lines (node lines)
        lines = task.stream("lines", topics=["lines"], key=string(), value=string())
        # Trim (node trim)
        trim = lines.process_values(
            "trim", code=TRIM_CODE, class_name="Trim", output={"key": "STRING", "value": "STRING"}
        )["out"]
        # Count (node count)
        count = trim.count("count")
        # To a topic (node out)
        out_updates = count.to_stream("out-to-stream", node="out")
        out_updates.to("out", topic="lengths", key=string(), value=long())


if __name__ == "__main__":
    Job.main(topology, name="trimmed", tasks=1)
