"""Clicks and length of each visit, once it is over."""

from millrace_runtime import Topology, sessions, string, until_window_closes

topology = Topology("visits", description=__doc__)

clicks = topology.stream("clicks", key=string(), value=string())

visits = (
    # A visit ends after 30 minutes without a click
    clicks.group_by_key().windowed_by(sessions("30 minutes")).count(name="visits")
)

(
    # Finished visits
    visits.suppress(until_window_closes(), name="finished")
    .to_stream()
    .map(
        key="key.key",
        value="named_struct('clicks', value,"
        " 'seconds', unix_seconds(key.window.end) - unix_seconds(key.window.start))",
    )
    .to("finished-visits")
)


if __name__ == "__main__":
    topology.main()
