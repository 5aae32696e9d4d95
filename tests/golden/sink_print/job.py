"""to-the-log, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, string


def topology(job: Job) -> None:
    """Build the topology “to-the-log”."""
    # == Sub-topology 0: 1 task, plain DataFrame ==
    # Lines (node lines)
    lines = job.read_stream("lines", topics=["lines"], key=string(), value=string())
    # Log (node log)
    job.print_("log-0", lines, label="seen", node="log")

    # == Sub-topology 1: 1 task, stream task ==
    with job.subtopology(1, level=0, tasks=1) as task:
        # Users (node users)
        users = task.table("users", topic="users", key=string(), value=string())
        # Log (node log)
        log_updates_1 = users.to_stream("log-to-stream-1", node="log")
        log_updates_1.print_("log-1", label="seen", node="log")


if __name__ == "__main__":
    Job.main(topology, name="to-the-log", tasks=1)
