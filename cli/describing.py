"""`verify --random N --describe`: compare `describe` with Kafka Streams' own description.

Nothing runs, because a description depends only on the topology's shape. The random documents of
`oracle.fuzz` are extended by features that only a description shows: topics with several
partitions, repartition topics with a number of partitions and a name, processors that share a
store, a topic that is read twice, stores without a changelog.
"""

from __future__ import annotations

import json
import random
import re
from typing import TypeAlias, cast

from millrace_compiler import Analyzer, compile_document
from millrace_compiler.compilation.describe import description_of
from millrace_model.documents import DocumentNode, TopologyDocument
from millrace_model.scenarios import Expected, Scenario, ScenarioResult
from millrace_runtime.errors import MillraceError
from millrace_runtime.results.comparing import differences

from cli.oracle import Oracle
from oracle import fuzz

Document: TypeAlias = TopologyDocument

_TYPES = {"string": "STRING", "integer": "INT", "long": "BIGINT", "double": "DOUBLE"}
_CODE = """\
class PassOn(Processor):
    def init(self, context):
        self.context = context

    def process(self, record):
        self.context.forward(record)
"""


def described_scenario(seed: int, number: int, *, wide: bool = False) -> Scenario:
    """Return a random document to describe, which is determined by seed and number."""
    scenario = fuzz.scenario(seed, number, wide=wide)
    draw = random.Random(f"describe/{seed}/{number}")  # noqa: S311 - to be repeated, not secret
    document = scenario["topology"]
    # Kafka Streams loses the sources of a suppressed or cogrouped table in its co-partitioning
    # check. Our rules do not, so these documents get equal partitions.
    even = any(node["kind"] in ("suppress", "cogroup") for node in document["nodes"])
    _no_patterns(document)
    _partitions(document, draw, even=even)
    _repartitions(document, draw, even=even)
    _silent_stores(document, draw)
    streams = [n for n in document["nodes"] if n["kind"] == "source.stream" and _plain(n)]
    if streams and draw.random() < 0.3:
        _read_again(document, draw.choice(streams))
    processors: dict[str, str] = dict(scenario.get("oracle_processors") or {})
    if streams and draw.random() < 0.4:
        count = draw.randint(1, min(3, len(streams)))
        processors |= _processors(document, draw.sample(streams, count))
    return {
        "id": f"{'DW' if wide else 'D'}{seed}-{number:04d}",
        "topology": document,
        "oracle_processors": processors,
        "inputs": [],
        "compare": "describe",
    }


def _plain(source: DocumentNode) -> bool:
    params = source["params"]
    return "topics" in params and all(params[part]["format"] in _TYPES for part in ("key", "value"))


def _no_patterns(document: Document) -> None:
    """Replace patterns by topics: a description does not know what a pattern will match."""
    for node in document["nodes"]:
        pattern = node["params"].pop("topic_pattern", None)
        if pattern is not None:
            node["params"]["topics"] = [re.sub(r"[^A-Za-z0-9]", "", pattern)]


def _partitions(document: Document, draw: random.Random, *, even: bool) -> None:
    """Set numbers of partitions, mostly equal ones, so that joins are co-partitioned."""
    usual = draw.randint(1, 4)
    topics = document.setdefault("topics", {})
    for node in document["nodes"]:
        params = node["params"]
        if node["kind"].startswith("source."):
            named = [params["topic"]] if "topic" in params else params.get("topics", [])
            # Kafka Streams loses one of two sources of the same topics, and its co-partitioning.
            width = draw.randint(1, 4) if draw.random() < 0.1 and not even else usual
            for topic in named:
                topics.setdefault(topic, {"partitions": width})


def _repartitions(document: Document, draw: random.Random, *, even: bool) -> None:
    for node in document["nodes"]:
        if node["kind"] == "repartition":
            if draw.random() < 0.4 and not even:
                node["params"]["partitions"] = draw.randint(1, 5)
            # The oracle finds the parts of a node by a prefix of their names.
            if draw.random() < 0.4 or "name" in node["params"]:
                node["params"]["name"] = f"{node['id']}-wide"


def _silent_stores(document: Document, draw: random.Random) -> None:
    for node in document["nodes"]:
        if node["kind"].startswith("store.") and draw.random() < 0.2:
            node["params"]["logging"] = False


def _read_again(document: Document, source: DocumentNode) -> None:
    """Add a second source of the same topic, with its own sink."""
    document["nodes"] += [
        {**source, "id": "read-again", "params": dict(source["params"])},
        {"id": "copied", "kind": "sink.topic", "params": {"topic": "copied-rows"}},
    ]
    document["edges"].append({"source": "read-again", "target": "copied"})


def _processors(document: Document, sources: list[DocumentNode]) -> dict[str, str]:
    """Add a processor after each source; a shared store puts all of them into one task."""
    store = {"name": "shared-rows", "key_type": "STRING", "value_type": "STRING"}
    document["nodes"].append({"id": "shared", "kind": "store.key_value", "params": store})
    names = {}
    for number, source in enumerate(sources):
        id_, params = f"run-{number}", source["params"]
        output = {part: _TYPES[params[part]["format"]] for part in ("key", "value")}
        code = {"code": _CODE, "class_name": "PassOn", "output": output}
        document["nodes"].append({"id": id_, "kind": "process", "params": code})
        document["nodes"].append(
            {"id": f"{id_}-sink", "kind": "sink.topic", "params": {"topic": f"passed-{number}"}}
        )
        document["edges"] += [
            {"source": source["id"], "target": id_},
            {"source": "shared", "target": id_, "target_port": "store"},
            {"source": id_, "target": f"{id_}-sink"},
        ]
        names[id_] = "PassOn"
    return names


def verify_description(oracle: Oracle, analyzer: Analyzer, scenario: Scenario) -> list[str]:
    """Return the differences; Kafka Streams' description becomes the scenario's `expected`."""
    try:
        scenario["expected"] = without_steps(oracle.run(scenario))
    except MillraceError as error:
        if not error.facts.get("reason", "").startswith("TopologyException"):
            raise
        scenario["expected"] = {"error": {"kind": "refused"}}
    return differences(scenario, description(analyzer, scenario), "each")


def without_steps(described: Expected) -> Expected:
    """Return Kafka Streams' description without steps that only the oracle adds.

    A joiner that reads its time is a separate step after a join of pairs.
    """
    text = re.sub(r"-pairs(?=-(?:left|right)-)", "", json.dumps(described))
    return cast(Expected, json.loads(text))


def description(analyzer: Analyzer, scenario: Scenario) -> ScenarioResult:
    """Return the output of `describe --json`, or the refusal, as the result of a scenario."""
    compilation = compile_document(scenario["topology"], analyzer)
    if not compilation.ok:
        first = next(d for d in compilation.diagnostics if d.severity == "error")
        return {"error": {"code": first.code, "node": first.node, "message": first.message}}
    described = description_of(compilation).to_json()
    return {
        "subtopologies": described["subtopologies"],
        "internal_topics": described["internal_topics"],
        "error": None,
    }
