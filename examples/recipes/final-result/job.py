"""Sales of each item and hour: one result, when the hour is over."""

from millrace_runtime import Topology, long, string, tumbling, until_window_closes

topology = Topology("final-result", description=__doc__)

sales = topology.stream("sales", key=string(), value=string())

per_hour = (
    # Sales of each hour
    sales.group_by_key().windowed_by(tumbling("1 hour", grace="5 minutes")).count(name="per-hour")
)

(
    # Finished hours
    per_hour.suppress(until_window_closes(), name="finished")
    .to_stream()
    .select_key("key.key")
    .to("sales-per-hour", value=long())
)


if __name__ == "__main__":
    topology.main()
