"""The compiler process: ``python -m millrace_compiler.isolated.worker MEGABYTES``.

It reads requests from standard input and writes answers to standard output (:mod:`frames`). A
request contains an action, the document, the analyzer's address and the limit in seconds.
``compile`` returns the response of the compile endpoint, ``bundle`` writes the files of the job
into a folder, ``state`` returns the state schema, ``types`` the types of formats, ``generate``
random records. An alarm kills the process shortly after the deadline, even if its parent has ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from collections import OrderedDict
from functools import cache
from pathlib import Path
from typing import Literal, Required, TypedDict

from millrace_model.documents import Format, TopologyDocument
from millrace_model.plans import CompilationJson
from millrace_model.recipes import RecipeSettings, TypeJson
from millrace_model.scenarios import Conditioned
from millrace_services import frames

from millrace_compiler.compilation.compilation import Compilation, Dialect, compile_document
from millrace_compiler.compilation.conditions import Checked, Condition
from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.export.bundle import bundle_files, package_files
from millrace_compiler.inference.analysis import Analyzer, CachingAnalyzer, SocketAnalyzer
from millrace_compiler.inference.registries import DEFAULT, Unasked, read_formats
from millrace_compiler.state.state_schema import state_schema
from millrace_compiler.types.generating import Recipe, lines
from millrace_compiler.types.types import DataType

#: seconds after the deadline at which the alarm kills the process
LAST_RESORT = 2.0


@cache
def analyzer_at(address: str, timeout: float) -> Analyzer:
    """A caching analyzer for the socket at this path."""
    return CachingAnalyzer(SocketAnalyzer(address, timeout))


class Request(TypedDict, total=False):
    """A request to a process; ``do`` says which of the other fields it has."""

    do: Required[Literal["compile", "bundle", "state", "types", "generate"]]
    document: TopologyDocument
    analyzer: str
    seconds: float
    registries: bool
    real_time: bool
    dialect: Dialect
    partitions: dict[str, int]
    conditions: list[Conditioned]
    directory: str
    runtime: str
    operator_jar: str | None
    driven: bool
    formats: dict[str, Format]
    topic: str
    recipe: RecipeSettings
    types: dict[str, TypeJson]
    count: int
    every: int


class Kept:
    """The last compilations without errors: a deployment asks for the same one several times.

    Each is kept for a short time, because the latest schema of a registry may change.
    """

    def __init__(self, most: int = 2, seconds: float = 60.0) -> None:
        self._most, self._seconds = most, seconds
        self._found: OrderedDict[str, tuple[float, Compilation]] = OrderedDict()

    def of(self, request: Request) -> Compilation:
        """The compilation of the document of a request."""
        asked = json.dumps([request.get(name) for name in _ASKED])
        made, known = self._found.get(asked, (0.0, None))
        if known is not None and time.monotonic() - made < self._seconds:
            return known
        compilation = _compiled(request)
        if compilation.ok:
            self._found[asked] = time.monotonic(), compilation
            self._found.move_to_end(asked)
            while len(self._found) > self._most:
                self._found.popitem(last=False)
        return compilation


#: what a compilation depends on
_ASKED = ("document", "analyzer", "registries", "real_time", "dialect", "partitions")
kept = Kept()


def _compiled(request: Request) -> Compilation:
    analyzer = analyzer_at(request["analyzer"], request["seconds"])
    schemas = DEFAULT if request["registries"] else Unasked()
    return compile_document(
        request["document"],
        analyzer,
        schemas,
        real_time=request["real_time"],
        dialect=request["dialect"],
        partitions=request.get("partitions"),
    )


def compile_(request: Request) -> CompilationJson:
    """The response of the compile endpoint; for a test, also the check of its conditions."""
    compilation = kept.of(request)
    if not request["conditions"]:
        return compilation.to_json()
    conditions = [Condition(**each) for each in request["conditions"]]
    analyzer = analyzer_at(request["analyzer"], request["seconds"])
    checked = Checked(compilation, conditions, analyzer)
    answer = compilation.to_json()
    answer["conditions"] = checked.to_json()
    return answer


def bundle(request: Request) -> dict[str, object]:
    """Writes the files of the job into a folder; the answer has the diagnostics."""
    compilation = kept.of(request)
    if compilation.ok:
        runtime, jar = Path(request["runtime"]), request["operator_jar"]
        operator = Path(jar) if jar else None
        files = bundle_files(compilation, runtime, operator)
        if request["driven"]:
            files |= package_files(runtime, operator)
        for path, content in files.items():
            target = Path(request["directory"], path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    return {"diagnostics": [each.to_json() for each in compilation.diagnostics]}


def state(request: Request) -> dict[str, object]:
    """The state schema (None if the document is refused) and the diagnostics."""
    compilation = kept.of(request)
    return {
        "state": state_schema(compilation) if compilation.ok else None,
        "diagnostics": [each.to_json() for each in compilation.diagnostics],
    }


def types(request: Request) -> dict[str, object]:
    """The types of formats (None for a faulty one) and the diagnostics."""
    report = Diagnostics()
    schemas = DEFAULT if request["registries"] else Unasked()
    found = read_formats(request["formats"], schemas, report)
    return {
        "types": {name: each.type and each.type.to_json() for name, each in found.items()},
        "diagnostics": [each.to_json() for each in report],
    }


def generate(request: Request) -> dict[str, object]:
    """Random records as input lines of a simulation."""
    types = {part: DataType.from_json(raw) for part, raw in request["types"].items()}
    recipe = Recipe(topic=request["topic"], **request["recipe"], types=types)
    return {"lines": lines(recipe, request["count"], request["every"])}


def answer(request: Request) -> dict[str, object]:
    """The answer to a request, the limit that it exceeds, or its OSError."""
    try:
        if request["do"] == "bundle":
            return {"answer": bundle(request)}
        if request["do"] == "state":
            return {"answer": state(request)}
        if request["do"] == "types":
            return {"answer": types(request)}
        if request["do"] == "generate":
            return {"answer": generate(request)}
        return {"answer": compile_(request)}
    except MemoryError:
        return {"exceeded": "memory"}
    except OSError as error:
        return {"os_error": [error.errno, error.strerror, error.filename]}


def limit_memory(megabytes: int) -> None:
    """Limits the memory for data, if the system supports such a limit."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (megabytes << 20, megabytes << 20))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> int:
    """Answers requests until standard input ends."""
    limit_memory(int(sys.argv[1]))
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Accidental prints must not end up between the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    answers.write(frames.encode({"answer": {}}))
    answers.flush()
    while (request := frames.read(requests)) is not None:
        signal.setitimer(signal.ITIMER_REAL, request["seconds"] + LAST_RESORT)
        found = answer(request)
        try:
            encoded = frames.encode(found)
        except MemoryError:
            encoded = frames.encode({"exceeded": "memory"})
        signal.setitimer(signal.ITIMER_REAL, 0)
        answers.write(encoded)
        answers.flush()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # The parent has ended.
        os._exit(0)
