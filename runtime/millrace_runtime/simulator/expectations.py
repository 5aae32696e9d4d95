"""Comparison of a run with what a test expects: exact results and conditions.

Simulations in the page, `test-topology` and pytest all evaluate tests with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, cast

from millrace_compiler import Analyzer, Compilation
from millrace_compiler.compilation.conditions import ANY, EVERY, Checked, Condition, read_conditions
from millrace_model.records import InputLine, OutputLine, StoreEntry
from millrace_model.scenarios import Expected, Scenario, ScenarioResult
from pyspark.sql import SparkSession

from millrace_runtime.analyzer.compiling import compiled
from millrace_runtime.errors import MillraceError
from millrace_runtime.results.comparing import canonical, compared_as_test
from millrace_runtime.results.differences import Difference
from millrace_runtime.simulator.unbatched import UnbatchedSimulator

#: maximum number of records that a difference lists by their places
_NAMED = 10

Row: TypeAlias = OutputLine | StoreEntry


class Expectations:
    """The expectations of a test. Raises MillraceError `condition_invalid`."""

    def __init__(
        self,
        spark: SparkSession,
        analyzer: Analyzer,
        compilation: Compilation,
        expected: Expected,
    ) -> None:
        self._spark, self._analyzer, self._expected = spark, analyzer, expected
        try:
            self._conditions = read_conditions(expected.get("conditions"))
        except ValueError as error:
            raise MillraceError("condition_invalid", f"{error}.") from None
        checked = Checked(compilation, self._conditions, analyzer)
        for fault in checked.diagnostics:
            message = f"{fault.path}: {fault.message} {fault.hint}".strip()
            raise MillraceError("condition_invalid", message, parameter=fault.path)
        self._topology = checked.topology()

    def differences(
        self, test: Scenario, result: ScenarioResult, cut: str = "each"
    ) -> list[Difference]:
        """Return the differences; empty if the result is as expected.

        `result`: in the form of a result file. `cut`: see `comparing.compared`.
        """
        test = {**test, "expected": self._expected}
        found = compared_as_test(test, result, cut)
        if not self._conditions or (result.get("error") and not self._expected.get("error")):
            return found
        return [*found, *self._broken(result)]

    def _broken(self, result: ScenarioResult) -> Iterator[Difference]:
        stopped = bool(result.get("error"))
        rows = [_rows(condition, result) for condition in self._conditions]
        met = self._met(rows)
        for condition, mine, true in zip(self._conditions, rows, met, strict=True):
            if not (stopped and condition.store is not None):  # contents of stores are unknown then
                yield from _differences(condition, mine, true)

    def _met(self, rows: list[list[Row]]) -> list[set[int]]:
        """Return, for each condition, the places of the records for which it is true."""
        lines: list[tuple[int, int, InputLine]] = [
            (number, place, {
                "topic": str(number),
                "key": row.get("key"),
                "value": row.get("value"),
                "timestamp": row.get("timestamp") or 0,
                "headers": cast("dict[str, str | None]", row.get("headers") or {}),
            })
            for number, mine in enumerate(rows)
            for place, row in enumerate(mine)
        ]  # fmt: skip
        met: list[set[int]] = [set() for _ in rows]
        if not lines:
            return met
        graph = compiled(self._topology, self._analyzer).require_task_graph()
        simulator = UnbatchedSimulator(self._spark.newSession(), graph, name="conditions")
        batch = [(number, line) for number, (_, _, line) in enumerate(lines, 1)]
        judged = simulator.run_batches([batch])
        if judged.error is not None:
            raise MillraceError("condition_failed", str(judged.error["message"]))
        for output in judged.outputs:
            number, place, _ = lines[output["after"] - 1]
            met[number].add(place)
        return met


def _rows(condition: Condition, result: ScenarioResult) -> list[Row]:
    if condition.store is not None:
        return list((result.get("stores") or {}).get(condition.store, []))
    return [row for row in result.get("outputs") or [] if row["topic"] == condition.topic]


def _differences(condition: Condition, rows: list[Row], met: set[int]) -> Iterator[Difference]:
    records = condition.records
    if records == EVERY and rows:
        for place, row in enumerate(rows):
            if place not in met:
                at = {"place": place} if condition.store is None else {"key": canonical(row["key"])}
                yield _difference(condition, "record", "row", **at, found=_shown(row))
    elif records in (EVERY, ANY):
        if not met:
            yield _difference(condition, "no_record", "no_row", count=len(rows))
    elif records != len(met):
        places = sorted(met)
        named = [_named(condition, rows[each], each) for each in places[:_NAMED]]
        more = ["…"] if len(places) > _NAMED else []
        found = f"{len(met)}: {', '.join([*named, *more])}" if met else "0"
        yield _difference(condition, "records", "rows", expected=records, found=found)


def _difference(condition: Condition, of_topic: str, of_store: str, **facts: object) -> Difference:
    if condition.store is None:
        code, about = of_topic, {"topic": condition.topic}
    else:
        code, about = of_store, {"store": condition.store}
    predicate = condition.predicate.strip()
    return Difference.of(f"condition_{code}", **about, predicate=predicate, **facts)


def _named(condition: Condition, row: Row, place: int) -> str:
    return f"{condition.topic}[{place}]" if condition.store is None else canonical(row["key"])


def _shown(row: Row) -> str:
    """Return key, value, timestamp and headers in the form of exact comparisons."""
    parts = {name: row.get(name) for name in ("key", "value", "timestamp")}
    return canonical({**parts, "headers": row.get("headers") or None})
