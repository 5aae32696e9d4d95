"""Refusals of kinds, parameters and edges."""

from __future__ import annotations

from tests.compiler.kit import (
    document,
    line,
    node,
    sink,
    stream,
)
from tests.compiler.refused.made import (
    KEEP,
    Refused,
)

GRAPHS: Refused = {
    # ---- kinds and parameters
    "an unknown kind": (
        line(node("odd", "filtre", predicate="true")),
        ("kind_unknown", "odd", "kind"),
    ),
    "an unknown parameter": (
        line(node("keep", "filter", predicate="true", predicat="x")),
        ("parameter_unknown", "keep", "predicat"),
    ),
    "a missing parameter": (
        line(node("keep", "filter")),
        ("parameter_missing", "keep", "predicate"),
    ),
    "a null parameter": (
        line(node("keep", "filter", predicate=None)),
        ("parameter_missing", "keep", "predicate"),
    ),
    "a predicate that is no text": (
        line(node("keep", "filter", predicate=1)),
        ("parameter_type", "keep", "predicate"),
    ),
    "an empty predicate": (
        line(node("keep", "filter", predicate="  ")),
        ("expression_empty", "keep", "predicate"),
    ),
    "an unknown setting": (
        line(KEEP, settings={"guarantee": 1}),
        ("setting_unknown", None, "guarantee"),
    ),
    "a wrong setting": (
        line(KEEP, settings={"processing_guarantee": "twice"}),
        ("choice", None, "processing_guarantee"),
    ),
    "dead letters without a topic": (
        line(KEEP, settings={"processing_handler": "dead_letter"}),
        ("dead_letter_topic", None, "dead_letter_topic"),
    ),
    # ---- edges
    "a cycle": (
        document(
            [stream(), node("both", "merge"), KEEP, sink()],
            ["in > both", "both > keep", "keep > both", "keep > out"],
        ),
        ("cycle", "both", "in"),
    ),
    "a node that is its own parent": (
        document(
            [stream(), node("self", "merge"), sink()], ["in > self", "self > self", "self > out"]
        ),
        ("cycle", "self", "in"),
    ),
    "a processor without input": (
        document([stream(), KEEP, sink()], ["keep > out"]),
        ("input_missing", "keep", "in"),
    ),
    "a sink without input": (document([stream(), sink()], []), ("input_missing", "out", "in")),
    "a sink as a source": (
        document([stream(), sink(), KEEP], ["in > out", "out > keep"]),
        ("edge_from_sink", "out", "out"),
    ),
    "an edge to a source": (
        document([stream(), stream("two"), sink()], ["in > out", "in > two", "two > out"]),
        ("port_unknown", "two", "in"),
    ),
    "an output port that is not there": (
        document([stream(), KEEP, sink()], ["in > keep", "keep.yes > out"]),
        ("port_unknown", "keep", "yes"),
    ),
    "an input port that is not there": (
        document([stream(), KEEP, sink()], ["in > keep", "in > keep.second", "keep > out"]),
        ("port_unknown", "keep", "second"),
    ),
    "an input filled twice": (
        document(
            [stream(), stream("two"), KEEP, sink()], ["in > keep", "two > keep", "keep > out"]
        ),
        ("input_twice", "keep", "in"),
    ),
    "an edge from nowhere": (
        document([stream(), KEEP, sink()], ["nobody > keep", "in > out"]),
        ("edge_end", "keep", "in"),
    ),
    "an edge to nowhere": (
        document([stream(), sink()], ["in > out", "in > nobody"]),
        ("edge_end", "in", "out"),
    ),
}
