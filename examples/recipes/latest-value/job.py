"""The latest reading of each sensor, as a table that can be queried."""

from millrace_runtime import Topology, double, key_value_store, string

topology = Topology("latest-value", description=__doc__)

readings = topology.stream("readings", key=string(), value=double())

latest = readings.to_table(store=key_value_store("latest"), name="latest")
latest.to("latest-readings")


if __name__ == "__main__":
    topology.main()
