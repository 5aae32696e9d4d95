"""words, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, flat_map_values, string


def topology(job: Job) -> None:
    """Build the topology “words”."""
    # == Sub-topology 0: 1 task, plain DataFrame ==
    # Lines (node lines)
    lines = job.read_stream("lines", topics=["lines"], key=string(), value=string())
    # Words (node words)
    words = lines.transform(flat_map_values("words", "split(value, ' ')"))
    # To a topic (node out)
    job.write("out", words, topic="words", key=string(), value=string())


if __name__ == "__main__":
    Job.main(topology, name="words", tasks=1)
