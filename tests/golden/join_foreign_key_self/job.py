"""managers, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, json, string


def topology(job: Job) -> None:
    """Build the topology “managers”."""
    # == Sub-topology 0: 2 tasks, stream task, level 0 ==
    with job.subtopology(0, level=0, tasks=2) as task:
        # Staff (node staff)
        staff = task.table(
            "staff", topic="staff", key=string(), value=json("name STRING, manager STRING")
        )
        # With the manager (node managed)
        staff.foreign_key_subscribe(
            "managed-subscription-registration",
            foreign_key="value.manager",
            type="inner",
            partitions=2,
            node="managed",
        )

    # == Sub-topology 0: 2 tasks, stream task, level 1 ==
    with job.subtopology(0, level=1, tasks=2) as task:
        # With the manager (node managed)
        task.foreign_key_lookup(
            "managed-subscription-response",
            subscription="managed-subscription-registration",
            right=staff,
            type="inner",
            partitions=2,
            node="managed",
        )

    # == Sub-topology 0: 2 tasks, stream task, level 2 ==
    with job.subtopology(0, level=2, tasks=2) as task:
        # With the manager (node managed)
        with_the_manager = task.foreign_key_resolve(
            "managed",
            response="managed-subscription-response",
            left=staff,
            type="inner",
            joiner="named_struct('name', left.name, 'manager', right.name)",
        )
        # To a topic (node out)
        out_updates = with_the_manager.to_stream("out-to-stream", node="out")
        out_updates.to(
            "out", topic="managed", key=string(), value=json("name STRING, manager STRING")
        )


if __name__ == "__main__":
    Job.main(topology, name="managers", tasks=2)
