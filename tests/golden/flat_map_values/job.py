"""The topology “words”."""

from millrace_runtime import Topology, string

topology = Topology("words")

lines = topology.stream("lines", key=string(), value=string())
words = lines.flat_map_values("split(value, ' ')", name="words")
words.to("words")


if __name__ == "__main__":
    topology.main()
