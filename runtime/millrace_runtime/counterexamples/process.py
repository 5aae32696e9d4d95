"""The simulator's process, with searches: `python -m millrace_runtime.counterexamples.starting`.

Besides the requests of `millrace_runtime.simulator.process`, it handles those to `differ`: they
have two documents, `old` and `new`, `inputs` to begin with (lists of input lines) and `seconds`.
Inputs that do not fit a version are left out. The response has the `diagnostics` of a
refused document, each with its `version`, or the `result` of a search. SIGUSR1 ends the search,
which returns what it has.
"""

from __future__ import annotations

import threading
import time
from typing import Literal, TypedDict

from millrace_compiler import Analyzer, DocumentError, Refused, compile_document
from millrace_model.documents import TopologyDocument
from millrace_model.records import InputLine
from pyspark.sql import SparkSession

from millrace_runtime.counterexamples.search import search
from millrace_runtime.results.input_lines import checked_line
from millrace_runtime.session.early import EarlySession
from millrace_runtime.simulator import process
from millrace_runtime.simulator.process import REPORTED, Progress

#: maximum number of inputs of a search
MOST_SEARCHED = 20_000


class SearchRequest(TypedDict):
    """A request to `differ`."""

    old: TopologyDocument
    new: TopologyDocument
    inputs: list[list[InputLine]]
    seconds: float


def differ(
    spark: SparkSession,
    analyzer: Analyzer,
    request: SearchRequest,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> dict[str, object]:
    """Search for an input on which two documents differ: `{"diagnostics", "result"}`.

    Progress is the number of inputs that are `done`. Raises MillraceError for invalid inputs.
    """
    diagnostics = []
    versions: tuple[Literal["old", "new"], ...] = ("old", "new")
    for name in versions:
        try:
            found = compile_document(request[name], analyzer)
            refused = [] if found.ok else found.diagnostics
        except (DocumentError, Refused) as error:
            refused = list(error.diagnostics)
        diagnostics += [{**each.to_json(), "version": name} for each in refused]
    if diagnostics:
        return {"diagnostics": diagnostics, "result": None}
    seeds = [
        [checked_line(line, f"Input {number}") for number, line in enumerate(lines, 1)]
        for lines in request["inputs"]
    ]
    reported = time.monotonic()

    def report(inputs: int) -> None:
        nonlocal reported
        if progress is not None and time.monotonic() - reported >= REPORTED:
            reported = time.monotonic()
            progress({"done": inputs, "lines": MOST_SEARCHED})

    result = search(
        spark, analyzer, request["old"], request["new"],
        seeds=seeds, seconds=float(request["seconds"]), most=MOST_SEARCHED, lenient=True,
        stop=(lambda: False) if stop is None else stop.is_set, progress=report,
    )  # fmt: skip
    return {"diagnostics": [], "result": result.to_json()}


def serve(jvm: EarlySession | None, answers: int) -> int:
    """Handle requests until standard input ends; see `simulator.process.serve`."""
    return process.serve(jvm, answers, {"differ": differ})
