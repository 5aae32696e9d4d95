"""Lines of the public applications that are written as programs here, and of those programs.

    python -m tests.testing.applications              # write docs/applications.md
    python -m tests.testing.applications count CLONES # count the applications again, in bare clones

Counted are the methods that build a topology, with its aggregators, processors, handlers and
timestamp extractors; of a program, all statements, functions and classes that its topology needs.
Neither counts imports, comments, empty lines, and lines that only log; the applications' classes
for records, serdes and configuration are left out as well.
"""

from __future__ import annotations

import ast
import functools
import importlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from millrace_runtime import Topology

HERE = Path(__file__).parent
FACTS = HERE / "applications.toml"
PAGE = HERE.parents[1] / "docs" / "applications.md"


@dataclass(frozen=True)
class Application:
    """A public application. ``test``: the test that judges it, ``params``: its parameters.

    ``code``: files of the repository, with ``#method`` if only that counts; ``lines``: of these.
    """

    name: str
    test: str
    repository: str
    branch: str
    code: tuple[str, ...]
    lines: int
    params: dict[str, Any]

    def program(self) -> int:
        """Return the number of lines of the program."""
        return len(_Lines(self._topology(), self._module.__file__ or "").found)

    @property
    def _module(self) -> Any:
        return importlib.import_module(f"tests.testing.{self.test.partition('::')[0]}")

    def _topology(self) -> Topology:
        found: list[Topology] = []

        def create(topology: Topology, **_: Any) -> Any:
            found.append(topology)
            raise _Built

        _, owner, method = self.test.split("::")
        try:
            getattr(getattr(self._module, owner)(), method)(create, **self.params)
        except _Built:
            return found[0]
        raise LookupError(f"{self.test} makes no driver")


class _Built(Exception):
    pass


def applications() -> list[Application]:
    """Return all applications, in the order of the file."""
    found = []
    for each in tomllib.loads(FACTS.read_text("utf-8"))["repository"]:
        for row in each["application"]:
            prefix = each.get("folder", "")
            code = tuple(prefix + path for path in row["code"])
            found.append(
                Application(
                    row["name"], row["test"], each["name"], each.get("branch", "HEAD"), code,
                    row["lines"], row.get("params", {}),
                )
            )  # fmt: skip
    return found


# ---- programs -------------------------------------------------------------------------------


@functools.cache
def _parsed(file: str) -> tuple[list[str], ast.Module]:
    text = Path(file).read_text("utf-8")
    return text.split("\n"), ast.parse(text)


_SIMPLE = (ast.Assign, ast.Expr, ast.Return)


class _Lines:
    """The lines of a file that a topology needs: ``found``."""

    def __init__(self, topology: Topology, file: str) -> None:
        self.text, self.tree = _parsed(file)
        self.found: set[int] = set()
        self.known: set[str] = set()
        places = [topology._place, *(p for ps in topology._nodes.places.values() for p in ps)]
        lines = {place.line for place in places if place.file == file}
        for function in ast.walk(self.tree):
            if isinstance(function, ast.FunctionDef) and lines & set(_range(function)):
                self._function(function, lines)

    def _function(self, function: ast.FunctionDef, lines: set[int]) -> None:
        simple: list[ast.stmt] = [x for x in ast.walk(function) if isinstance(x, _SIMPLE)]
        wanted = [each for each in simple if lines & set(_range(each))]
        if not wanted:
            return
        assigned: dict[str, list[ast.stmt]] = {}
        for each in simple:
            for name in _names(each, ast.Store):
                assigned.setdefault(name, []).append(each)
        loops = [each for each in ast.walk(function) if isinstance(each, ast.For | ast.If)]
        around = [each for each in loops if set(wanted) & set(ast.walk(each))]
        for loop in around:
            head = loop.iter if isinstance(loop, ast.For) else loop.test
            wanted += [a for name in _names(head, ast.Load) for a in assigned.get(name, [])]
            self._keep(range(loop.lineno, loop.body[0].lineno))
        done: set[ast.stmt] = set()
        while wanted:
            each = wanted.pop()
            if each in done:
                continue
            done.add(each)
            self._add(each)
            for name in _names(each, ast.Load):
                # Of a name that a parameter of the test chooses, or that is assigned before.
                wanted += [a for a in assigned.get(name, []) if a.lineno <= each.lineno]
                if name not in assigned:
                    self._module(name)

    def _module(self, name: str) -> None:
        """Add a constant, function or class of the file or of its class."""
        if name in self.known:
            return
        self.known.add(name)
        classes = [each for each in self.tree.body if isinstance(each, ast.ClassDef)]
        tests = [each for each in classes if each.name.startswith("Test")]
        for body in (self.tree.body, *(each.body for each in tests)):
            for item in body:
                named = isinstance(item, ast.FunctionDef | ast.ClassDef) and item.name == name
                if isinstance(item, ast.ClassDef) and item in tests:
                    continue
                if named and isinstance(item, ast.FunctionDef) and body is not self.tree.body:
                    continue
                if named or (isinstance(item, ast.Assign) and name in _names(item, ast.Store)):
                    self._add(item)
                    for inner in _names(item, ast.Load):
                        self._module(inner)

    def _add(self, item: ast.stmt) -> None:
        self._keep(_range(item))

    def _keep(self, lines: range) -> None:
        for line in lines:
            text = self.text[line - 1].strip()
            if text and not text.startswith("#"):
                self.found.add(line)


def _range(item: ast.stmt) -> range:
    return range(item.lineno, (item.end_lineno or item.lineno) + 1)


def _names(item: ast.AST, context: type[ast.expr_context]) -> Iterator[str]:
    for each in ast.walk(item):
        if isinstance(each, ast.Name) and isinstance(each.ctx, context):
            yield each.id
        match each:
            case ast.Attribute(value=ast.Name(id="self"), attr=name) if context is ast.Load:
                yield name


# ---- applications ---------------------------------------------------------------------------

_COMMENT = re.compile(r"/\*.*?\*/|(?<!:)//[^\n]*", re.DOTALL)
_SKIPPED = re.compile(r"\s*(import|package)\b")
_LOGS = re.compile(r"\s*(log|logger|System\.out)\.|\s*\.peek\b")


def count(text: str, method: str = "") -> int:
    """Return the number of lines of Java or Kotlin, or of one of its methods."""
    text = _COMMENT.sub("", text)
    lines = [line for line in text.split("\n") if line.strip() and not _SKIPPED.match(line)]
    if method:
        declared = re.compile(
            rf"^\s*(override\s+)?(fun|public|protected|private|static)\b.*\b{method}\("
        )
        start = next(index for index, line in enumerate(lines) if declared.match(line))
        lines = _block(lines[start:])
    found, index = 0, 0
    while index < len(lines):
        if _LOGS.match(lines[index]):
            index += len(_closed(lines[index:]))
        else:
            found, index = found + 1, index + 1
    return found


def _block(lines: list[str]) -> list[str]:
    """The lines of a declaration, to the end of its body."""
    depth, opened = 0, False
    for index, line in enumerate(lines):
        depth += sum(line.count(each) for each in "({") - sum(line.count(each) for each in ")}")
        opened = opened or "{" in line
        if opened and depth <= 0:
            return lines[: index + 1]
    raise LookupError(lines[0])


def _closed(lines: list[str]) -> list[str]:
    """The lines of a call, to the end of its brackets."""
    depth = 0
    for index, line in enumerate(lines):
        depth += sum(line.count(each) for each in "({") - sum(line.count(each) for each in ")}")
        if depth <= 0:
            return lines[: index + 1]
    return lines


def counted(application: Application, clones: Path) -> int:
    """Count the lines of an application in a bare clone of its repository."""
    folder = clones / application.repository.replace("/", "+") / "repo"
    found = 0
    for each in application.code:
        path, _, method = each.partition("#")
        shown = subprocess.run(
            ["git", "-C", str(folder), "show", f"{application.branch}:{path}"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        found += count(shown.stdout, method)
    return found


# ---- the page -------------------------------------------------------------------------------


HEAD = """\
# Public applications

Applications that others have published, written as programs and judged by their own tests:
`./millrace test tests/testing` pipes the records of those tests and compares the results. From the
repositories come facts only: topics, what an application computes, and the records of its tests.
Avro and Protobuf are JSON here, except where the format is the point.

Lines are those of the methods that build a topology, with aggregators, processors, handlers and
timestamp extractors, and those of a program with all functions, classes and types that it needs.
Imports, comments, empty lines, lines that only log, classes of records, serdes and configuration
are not counted. `python -m tests.testing.applications` counts the programs and writes this page;
with `count CLONES`, it counts the applications in bare clones.

"""
TAIL = """
## What could not be said

- Left and outer joins of streams by `JoinWindows.of`, which Kafka 4.0 removed: it sent a result
  without a match at once, and again with one (two of the Kotlin examples).
- The rate of dropped records per second, which the quickstarts read from Kafka's metrics; their
  totals are compared.
- `print` and `foreach` have no results to compare.
- A service that predicts prices, which the tests of the prices replace by one that always answers
  427, and the number of entries that RocksDB estimates, which counts an update twice.
"""


def page() -> str:
    """Return the page: a table for each repository, and the sums."""
    rows = [(each, each.program()) for each in applications()]
    parts = [HEAD, _sums(rows)]
    for repository in dict.fromkeys(each.repository for each, _ in rows):
        own = [(each, lines) for each, lines in rows if each.repository == repository]
        parts += [f"\n## {repository}\n\n", "| application | lines | program |\n|---|---:|---:|\n"]
        parts += [f"| {each.name} | {each.lines} | {lines} |\n" for each, lines in own]
    return "".join([*parts, TAIL])


def _sums(rows: list[tuple[Application, int]]) -> str:
    found = "| repository | applications | lines | programs | |\n|---|---:|---:|---:|---:|\n"
    names = dict.fromkeys(each.repository for each, _ in rows)
    for name in [*names, None]:
        own = [row for row in rows if name in (row[0].repository, None)]
        theirs, ours = sum(each.lines for each, _ in own), sum(lines for _, lines in own)
        shown = f"[{name}](https://github.com/{name})" if name else "all"
        found += f"| {shown} | {len(own)} | {theirs} | {ours} | {100 * ours / theirs:.0f} % |\n"
    return found


def main(argv: list[str]) -> None:
    """Write the page, or print the lines of the applications in clones."""
    if argv[:1] == ["count"]:
        for each in applications():
            print(counted(each, Path(argv[1])), each.lines, each.test, *each.params.values())
        return
    PAGE.write_text(page(), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
