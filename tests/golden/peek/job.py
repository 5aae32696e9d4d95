"""watched, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, string


def topology(job: Job) -> None:
    """Build the topology “watched”."""
    # == Sub-topology 0: 1 task, stream task ==
    with job.subtopology(0, level=0, tasks=1) as task:
        # Lines (node lines)
        lines = task.stream("lines", topics=["lines"], key=string(), value=string())
        # Seen (node seen)
        seen = lines.peek("seen", "concat('saw ', value)")
        # To a topic (node out)
        seen.to("out", topic="seen", key=string(), value=string())


if __name__ == "__main__":
    Job.main(topology, name="watched", tasks=1)
