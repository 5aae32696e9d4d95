"""word-count, a topology of Millrace as a PySpark job.

Counts how often each word was seen.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, flat_map_values, key_value_store, long, select_key, string


def topology(job: Job) -> None:
    """Build the topology “word-count”."""
    # == Sub-topology 0: 4 tasks, plain DataFrame ==
    # Lines of text (node lines)
    lines_of_text = job.read_stream("lines", topics=["text-lines"], key=string(), value=string())
    # Words (node words)
    words = lines_of_text.transform(flat_map_values("words", "split(lower(value), ' ')"))
    # Count per word (node count)
    count_per_word_key = words.transform(select_key("count-key", "value", node="count"))
    job.repartition("count-repartition", count_per_word_key, partitions=4, node="count")

    # == Sub-topology 1: 4 tasks, stream task, level 1 ==
    with job.subtopology(1, level=1, tasks=4) as task:
        # Count per word (node count)
        count_per_word_repartitioned = task.repartitioned("count-repartition", node="count")
        count_per_word = count_per_word_repartitioned.count(
            "count", store=key_value_store("counts")
        )
        # Updates (node updates)
        updates = count_per_word.to_stream("updates")
        # Word counts (node word-counts)
        updates.to("word-counts", topic="word-counts", key=string(), value=long())


if __name__ == "__main__":
    Job.main(topology, name="word-count", tasks=4)
