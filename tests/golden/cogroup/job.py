"""profile, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, json, select_key, string


def topology(job: Job) -> None:
    """Build the topology “profile”."""
    # == Sub-topology 1: 3 tasks, plain DataFrame ==
    # Purchases (node buys)
    purchases = job.read_stream(
        "buys",
        topics=["buys"],
        key=string(),
        value=json("item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"),
    )
    # Profile (node profile)
    profile_buys_key = purchases.transform(
        select_key("profile-buys-key", "value.country", node="profile")
    )
    job.repartition("profile-buys-repartition", profile_buys_key, partitions=3, node="profile")

    # == Sub-topology 0: 3 tasks, stream task, level 1 ==
    with job.subtopology(0, level=1, tasks=3) as task:
        # Clicks (node clicks)
        clicks = task.stream("clicks", topics=["clicks"], key=string(), value=string())
        # Profile (node profile)
        profile_buys_repartitioned = task.repartitioned("profile-buys-repartition", node="profile")
        profile = task.cogroup(
            "profile",
            inputs=[
                (clicks, "named_struct('clicks', agg.clicks + 1L, 'spent', agg.spent)"),
                (
                    profile_buys_repartitioned,
                    "named_struct('clicks', agg.clicks, 'spent', agg.spent + value.price)",
                ),
            ],
            type="STRUCT<clicks: BIGINT, spent: DOUBLE>",
            initializer="named_struct('clicks', 0L, 'spent', 0D)",
            window={"type": "hopping", "size": 600000, "advance": 300000, "grace": 0},
        )
        # To a topic (node out)
        out_updates = profile.to_stream("out-to-stream", node="out")
        out_updates.to(
            "out",
            topic="profiles",
            key=json("key STRING, window STRUCT<start: TIMESTAMP, end: TIMESTAMP>"),
            value=json("clicks BIGINT, spent DOUBLE"),
        )


if __name__ == "__main__":
    Job.main(topology, name="profile", tasks=3)
