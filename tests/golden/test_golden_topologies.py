"""The shapes of random topologies that the page's tests lay out and draw."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from oracle.fuzz import scenario

WRITING = os.environ.get("MILLRACE_WRITE_GOLDENS") == "1"
FILE = Path(__file__).with_name("topologies.json")
#: number of random topologies, and of random topologies in each large one
RANDOM, LARGE, PARTS = 196, 4, 5
#: the first of those in large ones
FIRST = 60

#: parameters that name ports
NAMING = ("branches", "default_port", "inputs", "outputs")


def shape(number: int, prefix: str = "") -> dict[str, Any]:
    """Return nodes and edges of a random topology, with no parameters but names of ports."""
    made = scenario(1, number, wide=True)["topology"]

    def ports(params: dict[str, Any]) -> dict[str, Any]:
        found = {name: params[name] for name in NAMING if name in params}
        return {
            name: [{"port": each["port"]} if isinstance(each, dict) else each for each in value]
            if isinstance(value, list)
            else value
            for name, value in found.items()
        }

    nodes = [
        {"id": prefix + node["id"], "kind": node["kind"], "params": ports(node.get("params", {}))}
        for node in made["nodes"]
    ]
    edges = [
        {**edge, "source": prefix + edge["source"], "target": prefix + edge["target"]}
        for edge in made["edges"]
    ]
    return {"nodes": nodes, "edges": edges}


def large(number: int) -> dict[str, Any]:
    """Return random topologies, each of which is merged into the next one: about eighty nodes."""
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    last = None
    for part in range(PARTS):
        found = shape(FIRST + number * PARTS + part, f"p{part}-")
        # Nodes with one output and one input, of which both have the default names.
        inner = [
            node["id"] for node in found["nodes"] if "." not in node["kind"] and not node["params"]
        ]
        if last is not None and inner:
            merge = f"p{part}-from-{part - 1}"
            nodes.append({"id": merge, "kind": "merge", "params": {}})
            edges += [
                {"source": last, "target": merge},
                {"source": inner[0], "target": merge},
            ]
        nodes += found["nodes"]
        edges += found["edges"]
        last = inner[-1] if inner else last
    return {"nodes": nodes, "edges": edges}


def test_golden_topologies_are_those_of_the_generator() -> None:
    made = [shape(number) for number in range(RANDOM)] + [large(n) for n in range(LARGE)]
    lines = ",\n".join(json.dumps(each, separators=(",", ":")) for each in made)
    text = f"[\n{lines}\n]\n"
    if WRITING:
        FILE.write_text(text, encoding="utf-8")
    assert FILE.read_text(encoding="utf-8") == text
    assert min(len(each["nodes"]) for each in made[RANDOM:]) >= 70
