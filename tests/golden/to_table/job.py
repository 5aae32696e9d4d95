"""latest-by-user, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, json, key_value_store, select_key, string


def topology(job: Job) -> None:
    """Build the topology “latest-by-user”."""
    # == Sub-topology 0: 4 tasks, plain DataFrame ==
    # Clicks (node clicks)
    clicks = job.read_stream(
        "clicks", topics=["clicks"], key=string(), value=json("user STRING, page STRING")
    )
    # By user (node keyed)
    by_user = clicks.transform(select_key("keyed", "value.user"))
    # Latest (node latest)
    job.repartition("latest-repartition", by_user, partitions=4, node="latest")

    # == Sub-topology 1: 4 tasks, stream task, level 1 ==
    with job.subtopology(1, level=1, tasks=4) as task:
        # Latest (node latest)
        latest_repartitioned = task.repartitioned("latest-repartition", node="latest")
        latest = latest_repartitioned.to_table(
            "latest", store=key_value_store("latest-click", node="latest-store")
        )
        # To a topic (node out)
        out_updates = latest.to_stream("out-to-stream", node="out")
        out_updates.to(
            "out", topic="latest-clicks", key=string(), value=json("user STRING, page STRING")
        )


if __name__ == "__main__":
    Job.main(topology, name="latest-by-user", tasks=4)
