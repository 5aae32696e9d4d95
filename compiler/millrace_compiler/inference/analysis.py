"""Analyzers, which determine the types of Spark SQL expressions for the compiler.

:class:`Analyzer` is the interface. :class:`SocketAnalyzer` connects to a running Spark session,
:class:`CachingAnalyzer` caches answers, and :class:`RecordedAnalyzer` is a double for tests, which
replays recorded answers.
"""

from __future__ import annotations

import itertools
import json
import os
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from millrace_services.local_services import Connection

ENVIRONMENT = "MILLRACE_ANALYZER"
_CACHED = 20_000
_TIMEOUT = 60.0


@dataclass(frozen=True)
class ExpressionRequest:
    """An expression over named columns. ``expects`` is its required type, if any.

    ``functions``: names and types of the functions in Python that it can call.
    """

    text: str
    columns: tuple[tuple[str, str], ...]
    expects: str | None = None
    functions: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> dict[str, object]:
        """The request in its wire format."""
        made: dict[str, object] = {
            "text": self.text, "columns": dict(self.columns), "expects": self.expects,
        }  # fmt: skip
        return made | ({"functions": dict(self.functions)} if self.functions else {})


@dataclass(frozen=True)
class ExpressionError:
    """Why Spark refuses an expression. ``start`` and ``stop`` are character offsets in its text.

    ``condition`` is Spark's error condition or the analyzer's own; ``facts`` are its parameters.
    """

    message: str
    condition: str | None = None
    start: int | None = None
    stop: int | None = None
    facts: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class ExpressionResult:
    """The type of an expression, or the error. ``columns`` are those that it uses."""

    type: str | None
    error: ExpressionError | None = None
    columns: tuple[str, ...] = ()
    warnings: tuple[ExpressionError, ...] = ()

    @staticmethod
    def from_json(raw: Mapping[str, object]) -> ExpressionResult:
        """Reads a result in its wire format."""
        error, columns, type_ = raw.get("error"), raw.get("columns"), raw.get("type")
        warnings = raw.get("warnings")
        return ExpressionResult(
            type_ if isinstance(type_, str) else None,
            _error(error) if isinstance(error, dict) else None,
            tuple(map(str, columns)) if isinstance(columns, list) else (),
            tuple(_error(each) for each in warnings) if isinstance(warnings, list) else (),
        )

    def to_json(self) -> dict[str, object]:
        """The result in its wire format."""
        warnings = [_wire(each) for each in self.warnings]
        return {
            "type": self.type,
            "columns": list(self.columns),
            "error": _wire(self.error) if self.error else None,
        } | ({"warnings": warnings} if warnings else {})


def _error(raw: Mapping[str, object]) -> ExpressionError:
    start, stop = raw.get("start"), raw.get("stop")
    condition, facts = raw.get("condition"), raw.get("facts")
    return ExpressionError(
        str(raw.get("message", "the expression is refused")),
        condition if isinstance(condition, str) else None,
        start if isinstance(start, int) else None,
        stop if isinstance(stop, int) else None,
        {str(k): str(v) for k, v in facts.items()} if isinstance(facts, dict) else {},
    )


def _wire(error: ExpressionError) -> dict[str, object]:
    return {
        "message": error.message,
        "condition": error.condition,
        "start": error.start,
        "stop": error.stop,
        "facts": dict(error.facts),
    }


class AnalyzerUnavailable(RuntimeError):
    """The analyzer is unreachable or does not respond; the message contains cause and remedy."""


class Analyzer(Protocol):
    """Determines the types of expressions. Raises :class:`AnalyzerUnavailable`."""

    def analyze(self, requests: Sequence[ExpressionRequest]) -> list[ExpressionResult]:
        """One result for each request, in order; a faulty expression has a result with an error."""
        ...


class SocketAnalyzer:
    """Sends requests to a running analyzer (:mod:`millrace_services.local_services`).

    Thread-safe: each call uses a connection of its own. Idle connections are reused.
    """

    def __init__(self, path: str, timeout: float = _TIMEOUT) -> None:
        self.path, self.timeout = path, timeout
        self._idle: list[Connection] = []
        self._serial = itertools.count(1)

    @staticmethod
    def from_environment() -> SocketAnalyzer | None:
        """An analyzer for the socket in ``MILLRACE_ANALYZER``, if it is set."""
        path = os.environ.get(ENVIRONMENT)
        return SocketAnalyzer(path) if path else None

    def analyze(self, requests: Sequence[ExpressionRequest]) -> list[ExpressionResult]:
        """Sends all requests at once; retries if an idle connection has been closed."""
        if not requests:
            return []
        while True:
            kept = self._idle.pop() if self._idle else None
            try:
                connection = kept or Connection(self.path, self.timeout)
            except OSError as error:
                raise self._unavailable(error) from error
            try:
                answers = self._ask(connection, requests)
            except (OSError, ValueError) as error:
                connection.close()
                # An idle connection may have been closed since; a slow server gets no retry.
                if kept is None or isinstance(error, TimeoutError):
                    raise self._unavailable(error) from error
                continue
            self._idle.append(connection)
            break
        if len(answers) != len(requests):
            raise AnalyzerUnavailable(
                f"The analyzer at {self.path} answered {len(answers)} of "
                f"{len(requests)} expressions. Restart it."
            )
        return [ExpressionResult.from_json(answer) for answer in answers]

    def _ask(
        self, connection: Connection, requests: Sequence[ExpressionRequest]
    ) -> list[Mapping[str, object]]:
        """The answers, in order. Raises OSError or ValueError if the connection is broken."""
        serial = next(self._serial)
        answer = connection.ask(
            {"id": serial, "expressions": [each.to_json() for each in requests], "types": []}
        )
        found = answer.get("expressions")
        if answer.get("id") != serial or not isinstance(found, list):
            raise ValueError(str(answer.get("error", "the response contains no expressions")))
        return found

    def close(self) -> None:
        """Closes idle connections."""
        while self._idle:
            self._idle.pop().close()

    def _unavailable(self, error: Exception) -> AnalyzerUnavailable:
        return AnalyzerUnavailable(
            f"The analyzer at {self.path} does not respond ({error}). "
            f"Start it with “python -m millrace_runtime.analyzer --socket {self.path}”, or set "
            f"{ENVIRONMENT} to the socket of a running one."
        )


class CachingAnalyzer:
    """LRU cache in front of another analyzer."""

    def __init__(self, inner: Analyzer, size: int = _CACHED) -> None:
        self.inner, self.size = inner, size
        self._known: OrderedDict[ExpressionRequest, ExpressionResult] = OrderedDict()
        self._lock = threading.Lock()

    def analyze(self, requests: Sequence[ExpressionRequest]) -> list[ExpressionResult]:
        """Passes only distinct requests that are not cached to the inner analyzer."""
        with self._lock:
            known = {r: self._known[r] for r in requests if r in self._known}
            for request in known:
                self._known.move_to_end(request)
        unknown = [r for r in dict.fromkeys(requests) if r not in known]
        if unknown:
            known |= zip(unknown, self.inner.analyze(unknown), strict=True)
            with self._lock:
                self._known |= {r: known[r] for r in unknown if _lasting(known[r])}
                while len(self._known) > self.size:
                    self._known.popitem(last=False)
        return [known[r] for r in requests]


def _lasting(result: ExpressionResult) -> bool:
    """Whether a result can be cached. A deadline may not be exceeded the next time."""
    return result.error is None or result.error.condition != "DEADLINE"


class UnknownExpression(LookupError):
    """A :class:`RecordedAnalyzer` has no answer for a request."""


class RecordedAnalyzer:
    """Replays recorded answers from a file: a double of the real analyzer, without Spark.

    Unknown requests are passed to the ``inner`` analyzer, whose answers :meth:`save` writes to the
    file. Without one, an unknown request raises :class:`UnknownExpression`.
    """

    def __init__(self, path: Path, inner: Analyzer | None = None) -> None:
        self.path, self.inner = path, inner
        self.answers: dict[str, ExpressionResult] = {}
        if path.exists():
            for key, answer in json.loads(path.read_text("utf-8")).items():
                self.answers[key] = ExpressionResult.from_json(answer)

    @staticmethod
    def key(request: ExpressionRequest) -> str:
        """The key of a request in the file."""
        columns = ", ".join(f"{name} {type_}" for name, type_ in request.columns)
        calls = "".join(f" with {name} {type_}" for name, type_ in request.functions)
        return f"{request.text} ⟵ {columns} ⟶ {request.expects or '?'}{calls}"

    def analyze(self, requests: Sequence[ExpressionRequest]) -> list[ExpressionResult]:
        """The recorded answers."""
        keys = [self.key(request) for request in requests]
        unknown = {k: r for k, r in zip(keys, requests, strict=True) if k not in self.answers}
        if unknown:
            if self.inner is None:
                raise UnknownExpression(f"not recorded in {self.path.name}: {next(iter(unknown))}")
            found = self.inner.analyze(list(unknown.values()))
            self.answers |= zip(unknown, found, strict=True)
        return [self.answers[key] for key in keys]

    def save(self) -> None:
        """Writes all answers, one per line, sorted by key."""
        rows = (
            f"{json.dumps(key, ensure_ascii=False)}: "
            f"{json.dumps(self.answers[key].to_json(), ensure_ascii=False)}"
            for key in sorted(self.answers)
        )
        self.path.write_text("{\n" + ",\n".join(rows) + "\n}\n", "utf-8")
