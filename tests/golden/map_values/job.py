"""readable, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, json, map_values, string

AS_A_SENTENCE_EXPRESSION = """\
CASE
  WHEN value.quantity = 1 THEN concat('one ', value.item)
  ELSE concat(value.quantity, ' × "', value.item, '"')
END"""


def topology(job: Job) -> None:
    """Build the topology “readable”."""
    # == Sub-topology 0: 1 task, plain DataFrame ==
    # Orders (node orders)
    orders = job.read_stream(
        "orders",
        topics=["orders"],
        key=string(),
        value=json("item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"),
    )
    # As a sentence (node text)
    as_a_sentence = orders.transform(map_values("text", AS_A_SENTENCE_EXPRESSION))
    # To a topic (node out)
    job.write("out", as_a_sentence, topic="sentences", key=string(), value=string())


if __name__ == "__main__":
    Job.main(topology, name="readable", tasks=1)
