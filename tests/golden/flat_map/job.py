"""items-of-baskets, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, flat_map, integer, json, string


def topology(job: Job) -> None:
    """Build the topology “items-of-baskets”."""
    # == Sub-topology 0: 1 task, plain DataFrame ==
    # Baskets (node baskets)
    baskets = job.read_stream(
        "baskets",
        topics=["baskets"],
        key=string(),
        value=json("ARRAY<STRUCT<item: STRING, count: INT>>"),
    )
    # Items (node items)
    items = baskets.transform(
        flat_map("items", "transform(value, i -> named_struct('key', i.item, 'value', i.count))")
    )
    # To a topic (node out)
    job.write("out", items, topic="items", key=string(), value=integer())


if __name__ == "__main__":
    Job.main(topology, name="items-of-baskets", tasks=1)
