"""Distinct visitors of each page and day."""

from millrace_runtime import Topology, json, string, tumbling

topology = Topology("distinct-visitors", description=__doc__)

visits = topology.stream("visits", key=string(), value=json("page STRING, visitor STRING"))

visitors = (
    # Visitors of each page and day
    visits.group_by("value.page")
    .windowed_by(tumbling("1 day", grace="1 hour"))
    .aggregate(
        "ARRAY<STRING>",
        initializer="CAST(array() AS ARRAY<STRING>)",
        aggregator="array_union(agg, array(value.visitor))",
        name="visitors",
    )
)

(
    # Number of each day
    visitors.to_stream()
    .map(
        key="key.key",
        value="named_struct('day', date_format(key.window.start, 'yyyy-MM-dd'), 'n', size(value))",
    )
    .to("visitors-per-day")
)


if __name__ == "__main__":
    topology.main()
