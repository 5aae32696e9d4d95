"""The topology “final-counts”."""

from millrace_runtime import Topology, string, tumbling, until_window_closes

topology = Topology("final-counts")

views = topology.stream("views", key=string(), value=string())

(
    # Per minute
    views.group_by_key()
    .windowed_by(tumbling("1 minute", grace="10 seconds"))
    .count()
    # Final only
    .suppress(until_window_closes(), name="final")
    .to("views-per-minute")
)


if __name__ == "__main__":
    topology.main()
