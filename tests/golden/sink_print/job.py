"""The topology “to-the-log”."""

from millrace_runtime import Topology, string

topology = Topology("to-the-log")

lines = topology.stream("lines", key=string(), value=string())
users = topology.table("users", key=string(), value=string())
lines.print("seen", also=[users], name="log")


if __name__ == "__main__":
    topology.main()
