"""routes-by-name, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, json, long, string


def topology(job: Job) -> None:
    """Build the topology “routes-by-name”."""
    # == Sub-topology 0: 1 task, stream task ==
    with job.subtopology(0, level=0, tasks=1) as task:
        # Orders (node orders)
        orders = task.stream(
            "orders",
            topics=["orders"],
            key=string(),
            value=json(
                "item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"
            ),
        )
        # One topic per country (node by-country)
        orders.to(
            "by-country",
            topic_expression="concat('orders-', lower(value.country))",
            key=string(),
            value=json(
                "item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"
            ),
        )
        # Quantity (node quantity)
        quantity = orders.map_values("quantity", "value.quantity")
        # To a topic (node quantities)
        quantities_value = quantity.map_values(
            "quantities-value", "CAST(value AS BIGINT)", node="quantities"
        )
        quantities_value.to("quantities", topic="quantities", key=string(), value=long())


if __name__ == "__main__":
    Job.main(
        topology,
        name="routes-by-name",
        settings={
            "processing_guarantee": "exactly_once",
            "processing_handler": "dead_letter",
            "dead_letter_topic": "orders-dead",
        },
        tasks=1,
    )
