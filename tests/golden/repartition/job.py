"""The topology “wider”."""

from millrace_runtime import Topology, string

topology = Topology("wider", partitions={"lines": 2})

lines = topology.stream("lines", key=string(), value=string())
# Wider
wide = lines.repartition(partitions=8, topic="lines-wide", name="wide")
wide.to("wide-lines")


if __name__ == "__main__":
    topology.main()
