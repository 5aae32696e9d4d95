"""Runs recorded scenarios through the test driver, as a test of a program would."""

from __future__ import annotations

import base64
import decimal
import json
from typing import Any

from millrace_runtime import columns
from millrace_runtime.errors import MillraceError
from millrace_runtime.formats import Format, bytes_
from millrace_runtime.processor.stores import AggregationWithHeaders, ValueTimestampHeaders
from millrace_runtime.testing import RecordFailed, TestRecord, TopologyTestDriver

Json = dict[str, Any]


def not_expressible(scenario: Json) -> str | None:
    """Return why a test driver cannot run a scenario, or None if it can."""
    if scenario["compare"] == "describe":
        return "it compares a description, and runs nothing"
    if any("restart" in line for line in scenario["inputs"]):
        return "it restarts the application"
    return None


def run(scenario: Json) -> Json:
    """Return the result of a scenario, in the form of a result file."""
    try:
        with TopologyTestDriver(scenario["topology"]) as driver:
            return _run(driver, scenario)
    except RecordFailed:
        raise
    except MillraceError as error:
        return {"error": {"kind": "refused", **error.as_dict()}}


def _run(driver: TopologyTestDriver, scenario: Json) -> Json:
    outputs: list[Json] = []
    result: Json = {"outputs": outputs, "error": None}
    seen: set[str] = set()
    for number, line in enumerate(scenario["inputs"], 1):
        failed: RecordFailed | None = None
        try:
            if "advance_wall_clock" in line:
                driver.advance_wall_clock(line["advance_wall_clock"])
            else:
                pipe(driver, line)
        except RecordFailed as error:
            failed = error
        for topic in sorted(driver.produced_topic_names):
            for record in driver.output_topic(topic).read_records():
                outputs.append({"topic": topic, "after": number, **shown(record)})
                seen.add(json.dumps(plain(record.key)))
        if failed is not None:
            return {**result, "error": {"kind": "stopped", **failed.as_dict(), "after": number}}
    result["dropped"] = len(driver.drops)
    expected = scenario["expected"].get("stores") or {}
    result["stores"] = {name: rows(driver, name, expected[name], seen) for name in expected}
    return result


def pipe(driver: TopologyTestDriver, line: Json) -> None:
    """Pipe an input line. Values that do not fit their format are piped as bytes."""
    formats = driver._job.formats_of(line["topic"])
    if formats is None:
        return
    given: list[tuple[Any, Format]] = []
    for part, format in zip(("key", "value"), formats, strict=True):
        raw = line.get(f"{part}_bytes")
        if raw is None and line.get(part) is not None and format["format"] != "json":
            text = json.dumps(line[part])
            raw = columns.gateway().Simulation.encode(json.dumps(format), text)
        if raw is None:
            given.append((line.get(part), format))
        else:
            given.append((base64.b64decode(raw), bytes_()))
    (key, key_format), (value, value_format) = given
    topic = driver.input_topic(line["topic"], key_format, value_format)
    at, partition = line.get("timestamp") or 0, line.get("partition") or 0
    topic.pipe(key, value, at, line.get("headers"), partition)


def shown(record: TestRecord) -> Json:
    """Return a record as an output line."""
    headers = {
        name: None if value is None else text_of(value)
        for name, value in record.headers
        if not name.startswith("__streams.errors.")
    }
    line = {
        "key": plain(record.key), "value": plain(record.value), "timestamp": record.timestamp,
    }  # fmt: skip
    return {**line, "headers": headers} if headers else line


def text_of(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return base64.b64encode(value).decode()


def plain(value: Any) -> Any:
    """Return a value as output lines show it."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, ValueTimestampHeaders | AggregationWithHeaders):
        headers = [{"name": name, "value": plain(each)} for name, each in value.headers]
        parts = {name: plain(each) for name, each in value._asdict().items()}
        return {**parts, "headers": headers}
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return value


def _windowed(key: Any) -> bool:
    return isinstance(key, dict) and "window" in key


def rows(driver: TopologyTestDriver, name: str, expected: list[Json], seen: set[str]) -> list[Json]:
    """Return the rows of a store; those of a session or versioned store by their known keys."""
    store = driver.store(name)
    kind = driver._specs[name]["kind"]
    keys = [row["key"] for row in expected] + [json.loads(text) for text in seen]
    found: dict[str, Json] = {}

    def add(key: Any, value: Any, timestamp: int | None = None) -> None:
        shown = plain(key)
        if isinstance(shown, dict) and isinstance(shown.get("window"), dict):
            # Scenarios have the end of an unlimited window as -1.
            shown["window"] = {
                name: -1 if at is None else at for name, at in shown["window"].items()
            }
        row = {"key": shown, "value": plain(value), "timestamp": timestamp}
        found[json.dumps(row["key"], sort_keys=True)] = row

    if kind in ("key_value", "window"):
        for key, value in store.all():
            if not hasattr(store, "get_with_timestamp"):
                add(key, value)
            elif kind == "window":
                add(key, *store.get_with_timestamp(key["key"], key["window"]["start"]))
            else:
                add(key, *store.get_with_timestamp(key))
            assert value is not None
    elif kind == "session":
        for key in {json.dumps(each["key"]) for each in keys if _windowed(each)}:
            for session, value in store.fetch(json.loads(key)):
                add(session, value)
    else:
        for key in keys:
            try:
                version = store.get(key)
            except (TypeError, ValueError):  # the key of another topic
                continue
            if version is not None:
                add(key, *version)
    return list(found.values())
