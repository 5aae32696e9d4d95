"""with-country, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, json, key_value_store, string


def topology(job: Job) -> None:
    """Build the topology “with-country”."""
    # == Sub-topology 0: 3 tasks, stream task, level 0 ==
    with job.subtopology(0, level=0, tasks=3) as task:
        # Countries (node countries)
        countries = task.global_table(
            "countries",
            topic="countries",
            key=string(),
            value=json("name STRING, vat INT"),
            store=key_value_store("countries", node="country-store"),
        )
        # Orders (node orders)
        orders = task.stream(
            "orders",
            topics=["orders"],
            key=string(),
            value=json(
                "item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"
            ),
        )
        # Name of the country (node named)
        name_of_the_country = orders.join_global(
            "named",
            countries,
            type="left",
            key="value.country",
            joiner="named_struct('item', left.item, 'country', right.name)",
        )
        # By item (node by-item)
        by_item = name_of_the_country.select_key("by-item", "value.item")
        # Per key (node count)
        by_item.repartition("count-repartition", partitions=3, node="count")
        # To a topic (node out)
        name_of_the_country.to(
            "out", topic="named-orders", key=string(), value=json("item STRING, country STRING")
        )

    # == Sub-topology 1: 3 tasks, stream task, level 1 ==
    with job.subtopology(1, level=1, tasks=3) as task:
        # Countries (node countries)
        countries_1 = task.global_table(
            "countries-1",
            topic="countries",
            key=string(),
            value=json("name STRING, vat INT"),
            node="countries",
        )
        # Per key (node count)
        per_key_repartitioned = task.repartitioned("count-repartition", node="count")
        per_key = per_key_repartitioned.count("count")
        # To stream (node updates)
        updates = per_key.to_stream("updates")
        # Again, by item (node again)
        again_by_item = updates.join_global(
            "again",
            countries_1,
            type="inner",
            key="key",
            joiner="concat(CAST(left AS STRING), right.name)",
        )
        # To a topic (node counted)
        again_by_item.to("counted", topic="counted", key=string(), value=string())


if __name__ == "__main__":
    Job.main(topology, name="with-country", tasks=3)
