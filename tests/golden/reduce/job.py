"""The topology “highest-bid”."""

from millrace_runtime import Topology, long, string, tumbling, window_store

topology = Topology("highest-bid")

bids = topology.stream("bids", key=string(), value=long())

highest = (
    bids.group_by_key()
    .windowed_by(tumbling("1 minute", grace="5 seconds"), emit="window_close")
    .reduce(
        "greatest(agg, value)",
        store=window_store("highest", retention="10 minutes", id="w"),
        name="highest",
    )
)

highest.to("highest")


if __name__ == "__main__":
    topology.main()
