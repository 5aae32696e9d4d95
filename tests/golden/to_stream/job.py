"""updates, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, string


def topology(job: Job) -> None:
    """Build the topology “updates”."""
    # == Sub-topology 0: 1 task, stream task ==
    with job.subtopology(0, level=0, tasks=1) as task:
        # Users (node users)
        users = task.table("users", topic="users", key=string(), value=string())
        # Updates (node updates)
        updates = users.to_stream("updates")
        # Swapped (node keyed)
        swapped = updates.map("keyed", key="value", value="key")
        # To a topic (node out)
        swapped.to("out", topic="swapped", key=string(), value=string())


if __name__ == "__main__":
    Job.main(topology, name="updates", tasks=1)
