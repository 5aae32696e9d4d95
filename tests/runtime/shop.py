"""A program with orders, to which tests add functions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from millrace_runtime.program import load_program

HEAD = """import math
from millrace_runtime import Topology, json, long, string

LIMIT = 10
topology = Topology("shop")
orders = topology.stream("orders", key=string(), value=json("item STRING, n INT, price DOUBLE"))
"""


def program(folder: Path, text: str) -> Path:
    """Write the program with this text behind its orders, on line 7."""
    file = folder / "shop.py"
    file.write_text(HEAD + text, encoding="utf-8")
    return file


def nodes(folder: Path, text: str) -> dict[str, Any]:
    """Return the nodes of such a program's document by their ids."""
    made = load_program(program(folder, text)).document()["nodes"]
    return {each["id"]: each for each in made}
