"""people-only, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, json, key_value_store, string


def topology(job: Job) -> None:
    """Build the topology “people-only”."""
    # == Sub-topology 0: 1 task, stream task ==
    with job.subtopology(0, level=0, tasks=1) as task:
        # Visits (node visits)
        visits = task.table(
            "visits", topic="visits", key=string(), value=json("agent STRING, pages BIGINT")
        )
        # Without bots (node people)
        without_bots = visits.filter_not(
            "people",
            "lower(value.agent) LIKE '%bot%'",
            store=key_value_store("people", node="people-store", logging=False),
        )
        # To a topic (node out)
        out_updates = without_bots.to_stream("out-to-stream", node="out")
        out_updates.to(
            "out", topic="people", key=string(), value=json("agent STRING, pages BIGINT")
        )


if __name__ == "__main__":
    Job.main(topology, name="people-only", tasks=1)
