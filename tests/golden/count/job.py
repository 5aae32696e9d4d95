"""Counts how often each word was seen."""

from millrace_runtime import Topology, key_value_store, long, string

topology = Topology(
    "word-count", description=__doc__, partitions={"text-lines": 4, "word-counts": 4}
)

# Lines of text
lines = topology.stream("text-lines", key=string(), value=string(), name="lines")
counts_store = key_value_store("counts")

count_per_word = (
    lines.flat_map_values("split(lower(value), ' ')", name="words")
    .group_by("value")
    .count(store=counts_store)
)

updates = count_per_word.to_stream(name="updates")
updates.to("word-counts", key=string(), value=long(), name="word-counts")


if __name__ == "__main__":
    topology.main()
