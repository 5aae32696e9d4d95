"""counted-store, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, key_value_store, long, string


def topology(job: Job) -> None:
    """Build the topology “counted-store”."""
    # == Sub-topology 0: 1 task, stream task ==
    with job.subtopology(0, level=0, tasks=1) as task:
        # Lines (node lines)
        lines = task.stream("lines", topics=["lines"], key=string(), value=string())
        # Lines per key (node count)
        lines_per_key = lines.count(
            "count",
            store=key_value_store(
                "counts",
                key_type="STRING",
                value_type="BIGINT",
                persistent=False,
                logging_config={"min.insync.replicas": "2"},
            ),
        )
        # To a topic (node out)
        out_updates = lines_per_key.to_stream("out-to-stream", node="out")
        out_updates.to("out", topic="counts", key=string(), value=long())


if __name__ == "__main__":
    Job.main(topology, name="counted-store", tasks=1)
