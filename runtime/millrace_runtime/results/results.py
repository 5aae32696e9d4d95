"""The result of a simulation, and its progress."""

from __future__ import annotations

import dataclasses

from millrace_model.records import LetterFailure, LogLine, OutputLine, StoreEntry
from millrace_model.scenarios import StoppedFields
from millrace_model.traces import NodeCounts

from millrace_runtime.reports.trace import Count, Trace


@dataclasses.dataclass
class Result:
    """The result of a simulation; see the result files of `conformance`."""

    outputs: list[OutputLine]
    dropped: int = 0
    drops: dict[str, int] = dataclasses.field(default_factory=dict)  # by node
    stores: dict[str, list[StoreEntry]] = dataclasses.field(default_factory=dict)
    error: StoppedFields | None = None
    # Log lines of nodes (peek, print, processors): level, node, message, and `after`, the number
    # of the input line that was being processed; 0 if there was none.
    logs: list[LogLine] = dataclasses.field(default_factory=list)
    # Every step of every record, if a trace was requested; see `tracing`.
    trace: Trace | None = None
    # Messages of the errors of dead letters, with `after` as in logs.
    failures: list[LetterFailure] = dataclasses.field(default_factory=list)
    # By node: `in`, `out` and `dropped` {reason: n}, where `dead_letter` is one of the reasons.
    figures: dict[str, NodeCounts] = dataclasses.field(default_factory=dict)
    # The number of input lines that were processed, if the run was stopped from outside.
    stopped_after: int | None = None

    def add(self, output: OutputLine, failure: str | None) -> None:
        """Add an output; `failure`: the message of the error, if it is a dead letter."""
        self.outputs.append(output)
        if failure is not None:
            self.failures.append({"after": output["after"], "message": failure})


@dataclasses.dataclass(frozen=True)
class Progress:
    """The progress of a run: input lines done, record counts, figures by node as in Result."""

    done: int
    counts: list[Count]
    figures: dict[str, NodeCounts]
