"""Average temperature of the last two minutes, every minute."""

from millrace_runtime import Topology, double, hopping, string, window_store

topology = Topology("moving-average", description=__doc__)

readings = topology.stream("readings", key=string(), value=double())

averages = (
    # Two minutes, every minute
    readings.group_by_key()
    .windowed_by(hopping("2 minutes", advance="1 minute"), emit="window_close")
    .aggregate(
        "STRUCT<sum: DOUBLE, n: BIGINT>",
        initializer="named_struct('sum', 0D, 'n', 0L)",
        aggregator="named_struct('sum', agg.sum + value, 'n', agg.n + 1)",
        store=window_store("averages", retention="1 hour"),
        name="averages",
    )
)

averages.to_stream().map(key="key.key", value="value.sum / value.n").to("averages")


if __name__ == "__main__":
    topology.main()
