"""The comparison with other designers has every row, and the tests it names exist."""

from __future__ import annotations

import ast
import re
from functools import cache

from launcher import places

PAGE = places.REPOSITORY / "docs" / "comparison.md"
#: a test in Python, or a file of the page with the title of a test
_TEST = re.compile(r"`([^`/]+)`|(?:`([^`]+/[^`]+)`: )?“([^”]+)”")


def tables() -> list[list[list[str]]]:
    """Return the tables of the page, as rows of cells without their heads."""
    found: list[list[list[str]]] = []
    before = ""
    for line in PAGE.read_text("utf-8").splitlines():
        if line.startswith("|") and not set(line) <= set("|- "):
            if not before.startswith("|"):
                found.append([])
            found[-1].append([cell.strip() for cell in line.strip("|").split("|")])
        before = line
    return [rows[1:] for rows in found]


@cache
def names() -> frozenset[str]:
    """Return the names of all tests in Python."""
    return frozenset(
        node.name
        for path in (places.REPOSITORY / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    )


def found(cell: str) -> list[bool]:
    """Whether each test that a cell names exists. Titles without a file are of the one before."""
    exist, text = [], ""
    for name, file, title in _TEST.findall(cell):
        if file:
            text = (places.REPOSITORY / file).read_text("utf-8")
        exist.append(name in names() if name else f'"{title}"' in text)
    return exist


def test_each_row_that_says_yes_names_tests_that_exist() -> None:
    features, limits = tables()
    named = {row[0]: row[2] for row in limits}
    assert [row[0] for row in features if row[1] != "no"] == list(named)
    assert [row for row, cell in named.items() if not found(cell)] == []
    assert [(row, cell) for row, cell in named.items() if not all(found(cell))] == []
    files = [each for cell in named.values() for each in re.findall(r"`[^`]*/[^`]*`(?!: “)", cell)]
    assert files == [], "a file needs the title of its test"


def test_the_columns_are_those_of_the_designers_that_are_compared() -> None:
    features, _ = tables()
    assert len(features) >= 54
    assert {len(row) for row in features} == {9}
    assert {row[1] for row in features} <= {"yes", "partly", "no"}
