"""The topology “watched”."""

from millrace_runtime import Topology, string

topology = Topology("watched")

lines = topology.stream("lines", key=string(), value=string())
seen = lines.peek("concat('saw ', value)", name="seen")
seen.to("seen")


if __name__ == "__main__":
    topology.main()
