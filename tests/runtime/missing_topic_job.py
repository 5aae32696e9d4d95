"""A job whose source topic does not exist."""

from millrace_runtime import Topology, string

topology = Topology("missing-topic")
lines = topology.stream("nowhere-to-be-found", key=string(), value=string(), name="lines")
lines.to("word-counts", key=string(), value=string())


if __name__ == "__main__":
    topology.main()
