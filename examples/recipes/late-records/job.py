"""Clicks of each minute, with those that arrive up to five minutes late."""

from millrace_runtime import Topology, string, tumbling

topology = Topology("late-records", description=__doc__)

clicks = topology.stream("clicks", key=string(), value=string())

per_minute = (
    # Clicks of each minute
    clicks.group_by_key()
    .windowed_by(tumbling("1 minute", grace="5 minutes"))
    .count(name="per-minute")
)

per_minute.to_stream().map(
    key="key.key",
    value="named_struct('minute', date_format(key.window.start, 'HH:mm'), 'n', value)",
).to("clicks-per-minute")


if __name__ == "__main__":
    topology.main()
