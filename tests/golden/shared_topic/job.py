"""one-topic-twice, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, string


def topology(job: Job) -> None:
    """Build the topology “one-topic-twice”."""
    # == Sub-topology 0: 2 tasks, stream task ==
    with job.subtopology(0, level=0, tasks=2) as task:
        # First reader (node first)
        # Second reader (node second)
        first_reader = task.stream("first", topics=["events"], key=string(), value=string())
        # Map values (node upper)
        upper = first_reader.map_values("upper", "upper(value)")
        # To a topic (node loud)
        upper.to("loud", topic="loud", key=string(), value=string())
        # To a topic (node quiet)
        first_reader.to("quiet", topic="quiet", key=string(), value=string())


if __name__ == "__main__":
    Job.main(topology, name="one-topic-twice", tasks=2)
