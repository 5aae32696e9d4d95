"""`./millrace document`: handwritten programs, and programs that fail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli.main import main

PROGRAM = """
from millrace_runtime import Processor, Topology, json, key_value_store, string, tumbling

LIMIT = 3


class Limit(Processor):
    def init(self, context):
        self.context = context
        self.seen = context.store("seen")

    def process(self, record):
        count = (self.seen.get(record.key) or 0) + 1
        self.seen.put(record.key, count)
        if count <= LIMIT:
            self.context.forward(record)


topology = Topology("by-hand", partitions={"orders": 3})
seen = key_value_store("seen", key_type="STRING", value_type="INT")
# Orders
# As the shop writes them, one for each item.
orders = topology.stream("orders", key=string(), value=json("item STRING, n INT"))
few = orders.process(Limit, stores=[seen])
per_hour = (
    # Per item and hour
    few.group_by("value.item")
    .windowed_by(tumbling("1 hour", grace="10 minutes"))
    .count(name="per-hour")
)
for topic in ("hourly", "audit"):
    per_hour.to(topic)
print("noise")
"""


def documented(text: str, folder: Path, capsys: Any) -> tuple[int, str, str]:
    (folder / "shop.py").write_text(text, encoding="utf-8")
    code = main(["document", str(folder / "shop.py")])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_program_by_hand_becomes_a_document_with_its_comments(
    tmp_path: Path, capsys: Any
) -> None:
    code, out, _ = documented(PROGRAM, tmp_path, capsys)
    assert code == 0
    document = json.loads(out)
    nodes = {node["id"]: node for node in document["nodes"]}
    assert list(nodes) == ["orders", "process", "seen", "per-hour", "out", "out-2"]
    assert nodes["orders"]["label"] == "Orders"
    assert nodes["orders"]["description"] == "As the shop writes them, one for each item."
    assert nodes["per-hour"]["label"] == "Per item and hour"
    assert nodes["process"]["label"] == "Few"  # named after its variable
    assert nodes["seen"]["label"] == "Seen"
    assert "label" not in nodes["out"]
    assert nodes["per-hour"]["params"]["window"] == {
        "type": "tumbling",
        "size": "1 hour",
        "grace": "10 minutes",
    }
    assert nodes["process"]["params"]["code"].startswith("LIMIT = 3\n\n\nclass Limit(Processor):")
    assert {"source": "seen", "target": "process", "target_port": "store"} in document["edges"]
    assert document["topics"] == {"orders": {"partitions": 3}}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("import nothing_of_this_name", "shop.py, line 1: ModuleNotFoundError"),
        ("x = 1\n1 / 0", "shop.py, line 2: ZeroDivisionError"),
        ("def (", "shop.py, line 1: SyntaxError"),
        ("raise SystemExit(3)", "shop.py, line 1: SystemExit"),
        ("x = 1", "no topology at its top level"),
        (
            "from millrace_runtime import Topology\na, b = Topology('a'), Topology('b')",
            "2 topologies",
        ),
        (
            "from millrace_runtime import *\nt = Topology('a')\n"
            "s = t.stream('x', key=string(), value=string(), name='same')\n"
            "s.peek('1', name='same')",
            "the name 'same' is used twice",
        ),
    ],
)
def test_a_program_that_fails_is_reported_with_its_line(
    text: str, says: str, tmp_path: Path, capsys: Any
) -> None:
    code, out, err = documented(text, tmp_path, capsys)
    assert (code, out) == (2, "")
    assert says in err
    assert "Traceback" not in err


def test_a_program_that_is_not_there_is_named(tmp_path: Path, capsys: Any) -> None:
    assert main(["document", str(tmp_path)]) == 2
    assert "There is no program" in capsys.readouterr().err


def test_the_document_goes_to_the_file_that_is_named(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "job.py").write_text(PROGRAM, encoding="utf-8")
    assert main(["document", str(tmp_path), "-o", str(tmp_path / "doc.json")]) == 0
    assert json.loads((tmp_path / "doc.json").read_text("utf-8"))["name"] == "by-hand"
