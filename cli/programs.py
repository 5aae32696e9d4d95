"""Programs in place of documents: a command runs them once, and finds the lines of their nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from millrace_model.documents import TopologyDocument
    from millrace_runtime.job.outside import Lines


class Programs(TypedDict):
    """Documents of programs, the places of their nodes and their code at its lines, by path."""

    documents: dict[str, TopologyDocument]
    places: dict[str, dict[str, str]]
    lines: dict[str, Lines]


@dataclass
class ReadPrograms:
    """The programs that were read in place of documents, by the paths that were given.

    The resident process itself does not run programs: see `cli.preloaded`.
    """

    documents: dict[str, TopologyDocument] = field(default_factory=dict)
    #: the place of each node, such as "job.py, line 3"
    places: dict[str, dict[str, str]] = field(default_factory=dict)
    #: the code in Python at its lines in the program's files
    lines: dict[str, Lines] = field(default_factory=dict)

    def read(self, path: str) -> TopologyDocument:
        """Return the document of a program, which runs when it is first read.

        Raises MillraceError with file and line for a program that fails.
        """
        if path not in self.documents:
            from cli.documenting import document_of_program

            found = document_of_program(path)
            self.documents[path], self.places[path], self.lines[path] = found
        return self.documents[path]

    def place(self, path: str | None, node: str | None) -> str | None:
        """Return the place of a node. Without a path: of the only program that was read."""
        if path is None and len(self.places) == 1:
            path = next(iter(self.places))
        return self.places.get(path or "", {}).get(node or "")

    def placed(self, error: Mapping[str, object]) -> dict[str, object]:
        """Return an error with `file` and `line`, if its node is one of the only program read."""
        node = error.get("node")
        place = self.place(None, node) if isinstance(node, str) else None
        file, _, line = (place or "").rpartition(", line ")
        return {**error, "file": file, "line": int(line)} if file else dict(error)

    def all(self) -> Programs:
        """Return all programs."""
        return {"documents": self.documents, "places": self.places, "lines": self.lines}

    def add(self, found: Programs) -> None:
        """Add programs that another process has run."""
        self.documents.update(found["documents"])
        self.places.update(found["places"])
        self.lines.update(found["lines"])

    def forget(self) -> None:
        """Forget all programs."""
        self.documents.clear()
        self.places.clear()
        self.lines.clear()


#: of the running command
programs = ReadPrograms()


def is_program(path: str) -> bool:
    """Return whether a path is a program (`.py`, or a folder with a `job.py`), not a document."""
    return path.endswith(".py") or Path(path).is_dir()
