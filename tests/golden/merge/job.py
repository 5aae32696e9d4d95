"""both-shops, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, json, string


def topology(job: Job) -> None:
    """Build the topology “both-shops”."""
    # == Sub-topology 0: 4 tasks, stream task ==
    with job.subtopology(0, level=0, tasks=4) as task:
        # North (node north)
        north = task.stream(
            "north",
            topics=["north"],
            key=string(),
            value=json(
                "item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"
            ),
        )
        # South (node south)
        south = task.stream(
            "south",
            topics=["south"],
            key=string(),
            value=json(
                "item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"
            ),
        )
        # All (node all)
        all_ = north.merge("all", south)
        # To a topic (node out)
        all_.to(
            "out",
            topic="all-orders",
            key=string(),
            value=json(
                "item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"
            ),
        )


if __name__ == "__main__":
    Job.main(topology, name="both-shops", tasks=4)
