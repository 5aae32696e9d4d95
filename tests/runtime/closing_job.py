"""A processor that notes in a file that it was closed: `python closing_job.py IN OUT FILE ...`."""

import sys

from millrace_runtime import Job, string

CODE = """
class Noting(Processor):
    def init(self, context):
        self.context = context

    def process(self, record):
        self.context.forward(record)

    def close(self):
        with open({file!r}, "a") as file:
            file.write("closed\\n")
"""

if __name__ == "__main__":
    source, target, file = (sys.argv.pop(1) for _ in range(3))

    def topology(job: Job) -> None:
        """Passes records through the processor, in two tasks."""
        with job.subtopology(0, level=0, tasks=2) as task:
            records = task.stream("in", topics=[source], key=string(), value=string())
            noted = records.process_values(
                "noting", code=CODE.format(file=file), class_name="Noting",
                output={"value": "STRING"},
            )  # fmt: skip
            noted["out"].to("out", topic=target, key=string(), value=string())

    Job.main(topology, name="closing", tasks=2)
