"""The form of a topology that `Topology.start` and the command line run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from millrace_model.documents import DocumentSettings, TopologyDocument

from millrace_runtime.job.outside import Outside


@dataclass(frozen=True)
class Runnable:
    """A topology's name, its document, and the DataFrames and functions that the document names."""

    name: str
    document: TopologyDocument
    outside: Outside
    #: the place in the program of each node, and of the topology (None), such as "job.py, line 3"
    places: Mapping[str | None, str]

    @property
    def settings(self) -> DocumentSettings:
        """The settings of the document."""
        return self.document.get("settings", {})
