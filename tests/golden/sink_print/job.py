"""The topology “to-the-log”."""

from millrace_runtime import Topology, string

topology = Topology("to-the-log")

# Lines
lines = topology.stream("lines", key=string(), value=string())
# Users
users = topology.table("users", key=string(), value=string())
# Log
lines.print("seen", also=[users], name="log")


if __name__ == "__main__":
    topology.main()
