"""What a simulation answers: a record that stops it, and parts of a topology that run alone."""

from __future__ import annotations

import base64
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow]

STRING = {"format": "string"}


def simulated(warm: Any, document: Any, lines: list[Any]) -> Any:
    from millrace_runtime.analyzer.compiling import compiled
    from millrace_runtime.simulator.memory import TraceLimits
    from millrace_runtime.simulator.process import run, shown

    graph = compiled(document, warm.analyzer).require_task_graph()
    return shown(document, run(warm.spark, document, graph, lines, TraceLimits(steps=1000)))


def waiting() -> Any:
    """Numbers that wait, behind a repartition, for a versioned table."""
    text = {"key": STRING, "value": STRING}
    join = {"grace": "1 second", "type": "left", "joiner": "CAST(left AS INT)"}
    history = {"name": "versions", "history_retention": "1 hour"}
    nodes = [
        {"id": "numbers", "kind": "source.stream", "params": {"topics": ["numbers"], **text}},
        {"id": "by-value", "kind": "select_key", "params": {"key": "'k'"}},
        {"id": "names", "kind": "source.table", "params": {"topic": "names", **text}},
        {"id": "versions", "kind": "store.versioned", "params": history},
        {"id": "join", "kind": "join.stream_table", "params": join},
        {"id": "out", "kind": "sink.topic", "params": {"topic": "out"}},
    ]
    edges = [
        {"source": "numbers", "target": "by-value"},
        {"source": "by-value", "target": "join", "target_port": "left"},
        {"source": "names", "target": "join", "target_port": "right"},
        {"source": "versions", "target": "names", "target_port": "store"},
        {"source": "join", "target": "out"},
    ]
    return {"format": "millrace.topology/1", "name": "waiting", "nodes": nodes, "edges": edges}


def test_a_record_that_failed_behind_a_repartition_can_be_found(warm: Any) -> None:
    lines = [
        {"topic": "numbers", "key": "a", "value": value, "timestamp": at}
        for value, at in (("1", 0), ("bad", 1_000), ("3", 9_000))
    ]
    error = simulated(warm, waiting(), lines)["error"]
    assert (error["node"], error["after"]) == ("join", 3)
    # The record that released it, in a topic of a source and not in the repartition topic.
    assert (error["record"]["topic"], error["record"]["offset"]) == ("numbers", 2)


def test_bytes_of_a_poison_record_stop_the_run_at_its_source(warm: Any) -> None:
    document = waiting()
    document["nodes"][0]["params"]["value"] = {"format": "json", "schema": "n INT"}
    document["nodes"][4]["params"]["joiner"] = "left.n"
    poison = base64.b64encode(b'{"n": ').decode()
    lines = [
        {"topic": "numbers", "key": "a", "value": {"n": 1}, "timestamp": 0},
        {"topic": "numbers", "key": "a", "value_bytes": poison, "timestamp": 1},
    ]
    error = simulated(warm, document, lines)["error"]
    assert (error["kind"], error["node"], error["after"]) == ("stopped", "numbers", 2)
    assert error["code"] == "deserialization"


def test_records_of_a_topic_that_a_pattern_matches_are_read(warm: Any) -> None:
    document = waiting()
    params = document["nodes"][0]["params"]
    del params["topics"]
    params["topic_pattern"] = "num.*"
    lines = [{"topic": "numbers", "key": "a", "value": "1", "timestamp": 0}]
    result = simulated(warm, document, lines)
    entered = {step["node"] for step in result["steps"] if step["event"] == "record"}
    assert {"numbers", "by-value", "join"} <= entered
    assert result["error"] is None


SCENARIOS = Path(__file__).parents[2] / "conformance" / "scenarios"


def answered(warm: Any, document: Any, lines: list[Any], part: Any = None) -> Any:
    from millrace_runtime.simulator.process import simulate

    request: Any = {
        "do": "simulate", "document": document, "inputs": lines, "trace": 5_000, "part": part,
    }  # fmt: skip
    answer = simulate(warm.spark, warm.analyzer, request)
    assert answer["result"] is not None, answer["diagnostics"]
    return answer["result"]


def pinned(document: Any, result: Any, index: int) -> tuple[Any, list[Any]]:
    """Return an edge, and its records in a simulation as input lines after their inputs."""
    edge = document["edges"][index]
    return edge, [
        {"edge": edge, "partition": int(step["task"].split("_")[1]), **step["record"]}
        for step in result["steps"]
        if step["event"] == "record" and step["edge"] == index
    ]


def written(result: Any) -> Any:
    return [{**output, "after": None} for output in result["outputs"]]


def scenario(name: str) -> tuple[Any, list[Any]]:
    found = json.loads((SCENARIOS / f"{name}.json").read_text("utf-8"))
    return found["topology"], found["inputs"]


#: `L53`: a windowed table in front of suppress. `waiting`: a versioned table, and a changed key.
CASES = [("L53", 1), ("waiting", 1), ("waiting", 2)]


@pytest.mark.parametrize(("name", "index"), CASES)
def test_records_on_an_edge_give_what_they_gave_in_the_whole(
    warm: Any, name: str, index: int
) -> None:
    if name == "waiting":
        document = waiting()
        lines = [{"topic": "names", "key": "k", "value": "n", "timestamp": 0}]
        lines += [
            {"topic": "numbers", "key": "a", "value": str(at), "timestamp": at}
            for at in (100, 5_000, 9_000)
        ]
    else:
        document, lines = scenario(name)
    whole = answered(warm, document, lines)
    edge, records = pinned(document, whole, index)
    assert records
    if name == "waiting" and index == 1:
        records = [lines[0], *records]
    elif name == "waiting":
        records += lines[1:]
    part = answered(warm, document, records, {"pins": [edge]})
    assert written(part) == written(whole)
    assert edge["source"] not in part["part"]["nodes"]
    assert part["edges"][index] == len([line for line in records if "edge" in line])
    entered = [step for step in part["steps"] if step["event"] == "record"]
    ids = {node["id"] for node in document["nodes"]}
    assert {step["node"] for step in entered} <= ids
    assert index in {step["edge"] for step in entered}


def chain() -> Any:
    """Words that are filtered, made longer, given a length, and written."""
    text = {"key": STRING, "value": STRING}
    steps = [
        ("some", "filter", {"predicate": "value <> 'no'"}),
        ("longer", "map_values", {"value": "value || '!'"}),
        ("length", "map_values", {"value": "length(value)"}),
        ("out", "sink.topic", {"topic": "out"}),
        ("other", "sink.topic", {"topic": "other"}),
    ]
    nodes: list[Any] = [
        {"id": "words", "kind": "source.stream", "params": {"topics": ["words"], **text}}
    ]
    nodes += [{"id": id_, "kind": kind, "params": params} for id_, kind, params in steps]
    pairs = [("words", "some"), ("some", "longer"), ("longer", "length"), ("length", "out")]
    edges = [{"source": a, "target": b} for a, b in [*pairs, ("words", "other")]]
    return {"format": "millrace.topology/1", "name": "chain", "nodes": nodes, "edges": edges}


LINES: list[Any] = [
    {"topic": "words", "key": "k", "value": value, "timestamp": 0} for value in ("no", "yes")
]


@pytest.mark.parametrize(
    ("part", "nodes", "outputs"),
    [
        # Up to a node, nothing after it runs, nor what it does not need.
        ({"to": "longer"}, ["words", "some", "longer"], []),
        # What is after an edge with records runs, nothing else.
        (
            {"pins": [{"source": "some", "target": "longer"}]},
            ["longer", "length", "out"],
            [("out", 5)],
        ),
        # Records pass a muted node if they have its type; otherwise nothing follows it.
        (
            {"muted": ["some", "longer"]},
            ["words", "some", "longer", "length", "out", "other"],
            [("out", 2), ("other", "no"), ("out", 3), ("other", "yes")],
        ),
        (
            {"muted": ["length"]},
            ["words", "some", "longer", "out", "other"],
            [("other", "no"), ("other", "yes")],
        ),
    ],
)
def test_a_part_has_what_follows_and_what_it_needs(
    warm: Any, part: Any, nodes: list[str], outputs: Any
) -> None:
    edge = {"source": "some", "target": "longer"}
    lines = [{"edge": edge, "value": "pins"}] if part.get("pins") else LINES
    result = answered(warm, chain(), lines, part)
    assert result["part"]["nodes"] == nodes
    assert [(each["topic"], each["value"]) for each in result["outputs"]] == outputs
    passes = {"some": True, "longer": True, "length": False}
    assert result["part"]["muted"] == {id_: passes[id_] for id_ in part.get("muted", [])}


@pytest.mark.parametrize(
    ("part", "code"),
    [
        ({"pins": [{"source": "some", "target": "out"}]}, "pin_unknown"),
        ({"to": "nothing"}, "part_node_unknown"),
        ({"to": "length", "muted": ["length"]}, "part_empty"),
        ({"pins": [{"source": "longer", "target": "length"}]}, "pin_untyped"),
        ({"to": "out"}, "input_invalid"),
    ],
)
def test_a_part_that_cannot_run_is_refused_with_the_reason(warm: Any, part: Any, code: str) -> None:
    from millrace_runtime.errors import MillraceError

    document = chain()
    if code == "pin_untyped":
        document["nodes"][2]["params"]["value"] = "missing"
    lines = [{"edge": {"source": "words", "target": "some"}, "value": "a"}]
    with pytest.raises(MillraceError) as raised:
        answered(warm, document, lines, part)
    assert raised.value.code == code


def with_service() -> Any:
    """Orders whose score comes from a service, which the simulator cannot reach."""
    code = (
        "import urllib.request\n\n"
        "class Score(Processor):\n"
        "    def init(self, context):\n"
        "        self.context = context\n\n"
        "    def process(self, record):\n"
        "        urllib.request.urlopen('http://127.0.0.1:9/', timeout=1)\n"
    )
    text = {"key": STRING, "value": STRING}
    order = {"key": STRING, "value": {"format": "json", "schema": "id STRING, sum INT"}}
    params = {
        "code": code,
        "class_name": "Score",
        "output": {"key": "STRING", "value": "STRUCT<id: STRING, score: DOUBLE>"},
    }
    nodes = [
        {"id": "orders", "kind": "source.stream", "params": {"topics": ["orders"], **order}},
        {"id": "score", "kind": "process", "params": params},
        {"id": "large", "kind": "map_values", "params": {"value": "cast(value.score AS STRING)"}},
        {"id": "scored", "kind": "sink.topic", "params": {"topic": "scored", **text}},
    ]
    edges = [{"source": a["id"], "target": b["id"]} for a, b in itertools.pairwise(nodes)]
    return {"format": "millrace.topology/1", "name": "scores", "nodes": nodes, "edges": edges}


#: what a double of `score` gives for orders of 5, 50 and 500
ANSWERS = [
    (
        {"rows": [{"when": "value.sum > 100", "value": "named_struct('id', value.id, 's', 9)"}]},
        ["9.0"],
    ),
    (
        {
            "rows": [
                {"when": "value.sum = 50 -- exactly"},
                {"key": "'other'", "value": "named_struct('id', key, 's', value.sum / 10)"},
            ]
        },
        ["0.5", "50.0"],
    ),
    ({"rows": []}, []),
]


@pytest.mark.parametrize(("double", "scores"), ANSWERS)
def test_a_double_answers_in_place_of_a_node(warm: Any, double: Any, scores: list[str]) -> None:
    lines = [
        {"topic": "orders", "key": f"k{at}", "value": {"id": "a", "sum": each}, "timestamp": at}
        for at, each in enumerate([5, 50, 500])
    ]
    part = {"doubles": [{"node": "score", **double}]}
    result = answered(warm, with_service(), lines, part)
    assert [line["value"] for line in result["outputs"]] == scores
    if any("key" in row for row in double["rows"]):
        assert {line["key"] for line in result["outputs"]} == {"other"}
    assert result["error"] is None
    assert result["part"]["doubles"] == ["score"]
    assert result["part"]["muted"] == {}
    assert result["nodes"]["score"]["in"] == 3


@pytest.mark.parametrize(
    ("double", "code"),
    [
        ({"node": "score", "passes": True}, "double_passes"),
        ({"node": "orders"}, "double_ports"),
        ({"node": "scored"}, "double_ports"),
    ],
)
def test_a_node_that_cannot_have_a_double_is_named(warm: Any, double: Any, code: str) -> None:
    from millrace_runtime.errors import MillraceError

    with pytest.raises(MillraceError) as refused:
        answered(warm, with_service(), [], {"doubles": [double]})
    assert refused.value.code == code
    assert refused.value.facts == {"node": double["node"]}


def test_a_simulation_names_the_nodes_and_edges_outside_of_fragments(warm: Any) -> None:
    text = {"format": "string"}
    definition = {
        "nodes": [
            {"id": "in", "kind": "fragment.input"},
            {"id": "keep", "kind": "filter", "params": {"predicate": "value <> 'no'"}},
            {"id": "count", "kind": "count"},
            {"id": "out", "kind": "fragment.output"},
        ],
        "edges": [
            {"source": "in", "target": "keep"}, {"source": "keep", "target": "count"},
            {"source": "count", "target": "out"},
        ],
    }  # fmt: skip
    document = {
        "format": "millrace.topology/1", "name": "used", "fragments": {"counted@1": definition},
        "nodes": [
            {"id": "in", "kind": "source.stream",
             "params": {"topics": ["in"], "key": text, "value": text}},
            {"id": "counted", "kind": "fragment", "params": {"fragment": "counted@1"}},
            {"id": "out", "kind": "sink.topic", "params": {"topic": "out"}},
        ],
        "edges": [{"source": "in", "target": "counted"}, {"source": "counted", "target": "out"}],
    }  # fmt: skip
    lines = [
        {"topic": "in", "key": "a", "value": value, "timestamp": at}
        for at, value in enumerate(("yes", "no", "yes"))
    ]
    found = answered(warm, document, lines)
    assert [each["value"] for each in found["outputs"]] == [1, 2]
    assert found["edges"] == [3, 2]
    assert (found["nodes"]["counted"]["in"], found["nodes"]["counted"]["out"]) == (3, 2)
    assert found["nodes"]["counted--count"]["in"] == 2
    assert {step["node"] for step in found["steps"]} == {"in", "counted", "out"}
    inner = {step.get("inner") for step in found["steps"]}
    assert inner == {None, "counted--keep", "counted--count"}
    counts = [(each["source"], each["target"], each["records"]) for each in found["inner_edges"]]
    assert sorted(counts) == [
        ("counted--count", "out", 2), ("counted--keep", "counted--count", 2),
        ("in", "counted--keep", 3),
    ]  # fmt: skip
    over = {step["inner_edge"] for step in found["steps"] if step.get("inner_edge") is not None}
    assert over == {0, 1, 2}

    def part(edge: tuple[str, str] | None, value: Any = "yes", **asked: Any) -> Any:
        ends = [] if edge is None else [{"source": edge[0], "target": edge[1]}]
        pinned = [{"edge": each, "key": "a", "value": value, "timestamp": 7} for each in ends]
        return answered(warm, document, pinned or lines, {"pins": ends, **asked})

    # On the edge into the fragment, on one within, and up to a node within and to the fragment.
    entering = part(("in", "counted"))
    assert (entering["edges"], entering["part"]["nodes"]) == ([1, 1], ["counted", "out"])
    within = part(("counted--keep", "counted--count"))
    assert [each["value"] for each in within["outputs"]] == [1]
    assert within["nodes"]["counted--keep"]["in"] == 0
    leaving = part(("counted", "out"), 5)
    assert (leaving["edges"], leaving["part"]["nodes"]) == ([0, 1], ["out"])
    for to, ran in (("counted--keep", [2, 0]), ("counted", [2, 2])):
        short = part(None, to=to)
        assert short["part"]["nodes"] == ["in", "counted"]
        keep, count = (short["nodes"].get(f"counted--{each}") for each in ("keep", "count"))
        assert [keep["out"], count["in"] if count else 0] == ran
    muted = part(None, muted=["counted--keep"])
    assert [each["value"] for each in muted["outputs"]] == [1, 2, 3]
    assert {step["edge"] for step in found["steps"] if step.get("edge") is not None} == {0, 1}
