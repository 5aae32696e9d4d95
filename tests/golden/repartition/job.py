"""wider, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, string


def topology(job: Job) -> None:
    """Build the topology “wider”."""
    # == Sub-topology 0: 2 tasks, plain DataFrame ==
    # Lines (node lines)
    lines = job.read_stream("lines", topics=["lines"], key=string(), value=string())
    # Wider (node wide)
    job.repartition("lines-wide-repartition", lines, partitions=8, node="wide")

    # == Sub-topology 1: 8 tasks, stream task, level 1 ==
    with job.subtopology(1, level=1, tasks=8) as task:
        # Wider (node wide)
        wider_lines_wide_repartitioned = task.repartitioned("lines-wide-repartition", node="wide")
        # To a topic (node out)
        wider_lines_wide_repartitioned.to("out", topic="wide-lines", key=string(), value=string())


if __name__ == "__main__":
    Job.main(topology, name="wider", tasks=8)
