"""Files that cannot be read or written, and invalid lines: messages instead of stack traces."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli import main
from cli.documents import read_lines

DOCUMENT = {
    "format": "millrace.topology/1",
    "name": "copy",
    "nodes": [
        {"id": "in", "kind": "source.stream",
         "params": {"topics": ["in"], "key": {"format": "string"}, "value": {"format": "long"}}},
        {"id": "out", "kind": "sink.topic", "params": {"topic": "out"}},
    ],
    "edges": [{"source": "in", "target": "out"}],
}  # fmt: skip


def simulate(tmp_path: Path, inputs: bytes, *more: str) -> int:
    document = tmp_path / "doc.json"
    document.write_text(json.dumps(DOCUMENT), encoding="utf-8")
    (tmp_path / "in.jsonl").write_bytes(inputs)
    return main(["simulate", str(document), "--inputs", str(tmp_path / "in.jsonl"), *more])


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"topic": "in", "key": }', "it is not JSON"),
        ('{"topic": "in"', "it is not JSON"),
        ('{"topic": "in", "value": NaN}', 'it is not JSON: write "NaN" for NaN'),
        ("[" * 100_000, "it is nested too deeply"),
        ('{"topic": "in", "value": 1e999}', 'write "NaN" or "Infinity" as text'),
        (r'{"topic": "in", "key": "\ud83d"}', "contains an unpaired surrogate"),
        ('{"topic": 5}', "topic must be a name, found 5"),
        ('{"topic": ""}', "topic must be a name, found ''"),
        ('{"topic": "in", "timestamp": null}', "timestamp must be a whole number (ms), found None"),
        (
            '{"topic": "in", "timestamp": 1e3}',
            "timestamp must be a whole number (ms), found 1000.0",
        ),
        ('{"topic": "in", "timestamp": 9223372036854775808}', "timestamp must be a whole number"),
        ('{"topic": "in", "partition": "0"}', "partition must be a whole number, 0 or higher"),
        ('{"topic": "in", "partition": -1}', "there is no partition -1"),
        ('{"topic": "in", "headers": ["a"]}', "headers must be an object of strings, found ['a']"),
        ('{"topic": "in", "headers": {"a": 1}}', "the header a must be a string, found 1"),
        ('{"topic": "in", "value_bytes": "@@"}', "value_bytes must be base64, found '@@'"),
        ('{"topic": "in", "key_bytes": 7}', "key_bytes must be base64, found 7"),
        ('{"advance_wall_clock": "1"}', "advance_wall_clock must be a whole number (ms)"),
    ],
)
def test_a_line_that_is_no_record_is_named_by_its_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, says: str
) -> None:
    assert simulate(tmp_path, f'{{"topic": "in"}}\n{line}\n'.encode()) == 2
    printed = capsys.readouterr().err
    assert f"in.jsonl, line 2: {says}" in printed
    assert "Traceback" not in printed
    assert len(printed) < 400


def test_binary_data_are_no_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate(tmp_path, bytes(range(256)) * 40) == 2
    assert "is not UTF-8 text" in capsys.readouterr().err


def test_a_folder_is_no_file_of_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = tmp_path / "doc.json"
    document.write_text(json.dumps(DOCUMENT), encoding="utf-8")
    assert main(["simulate", str(document), "--inputs", str(tmp_path)]) == 2
    assert "cannot be read: Is a directory." in capsys.readouterr().err


def test_a_byte_order_mark_and_the_lines_of_windows_are_read(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes('﻿{"topic": "in", "value": 1}\r\n{"topic": "in", "value": 2}\r\n'.encode())
    assert [line["value"] for line in read_lines(str(path))] == [1, 2]


def test_only_a_newline_ends_a_line(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"topic": "in", "value": "a\u2028b\x85c"}\n', encoding="utf-8")
    assert read_lines(str(path)) == [{"topic": "in", "value": "a\u2028b\x85c"}]


def test_a_very_long_line_is_read(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps({"topic": "in", "value": "x" * 50_000_000}), encoding="utf-8")
    assert len(read_lines(str(path))[0]["value"]) == 50_000_000


@pytest.mark.parametrize("place", ["missing/out.jsonl", "."])
def test_an_output_that_cannot_be_written_is_reported_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    target = tmp_path / place
    if place == ".":
        target = Path("/proc/nowhere.jsonl")
    assert simulate(tmp_path, b'{"topic": "in"}\n', "--output", str(target)) == 1
    printed = capsys.readouterr().err
    assert str(target) in printed
    assert "No such file or directory" in printed


@pytest.mark.spark
@pytest.mark.slow
def test_a_value_that_its_format_cannot_take_is_named_by_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raw = json.loads(json.dumps(DOCUMENT))
    raw["nodes"][0]["params"]["value"] = {"format": "bytes"}
    document = tmp_path / "doc.json"
    document.write_text(json.dumps(raw), encoding="utf-8")
    inputs = tmp_path / "in.jsonl"
    inputs.write_text('{"topic": "in", "value": "AAA="}\n{"topic": "in", "value": "@@"}\n')
    assert main(["simulate", str(document), "--inputs", str(inputs)]) == 2
    printed = capsys.readouterr().err
    assert 'Input 2: the value must be base64, found "@@".' in printed
    assert "Traceback" not in printed


@pytest.mark.spark
@pytest.mark.slow
def test_records_of_a_topic_that_nothing_reads_are_named_and_passed_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = b'{"topic": "in", "value": 1}\n{"topic": "inn", "value": 2}\n'
    assert simulate(tmp_path, lines) == 0
    reported = capsys.readouterr()
    assert [json.loads(line)["value"] for line in reported.out.splitlines()] == [1]
    assert (
        "warning: 1 input records are of the topic inn, which the topology does not read "
        "(it reads in)." in reported.err
    )


@pytest.mark.spark
@pytest.mark.slow
def test_a_full_disk_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate(tmp_path, b'{"topic": "in", "value": 1}\n', "--output", "/dev/full") == 1
    assert "No space left on device." in capsys.readouterr().err


@pytest.mark.spark
@pytest.mark.slow
def test_a_value_that_does_not_fit_its_format_stops_at_its_source(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = b'{"topic": "in", "value": 1}\n{"topic": "in", "key": "k", "value": "many"}\n'
    assert simulate(tmp_path, lines, "--output", str(tmp_path / "out.jsonl")) == 3
    assert json.loads((tmp_path / "out.jsonl").read_text())["value"] == 1
    error = json.loads(capsys.readouterr().err.splitlines()[-1])["error"]
    assert (error["node"], error["parameter"], error["record"]["offset"]) == ("in", "value", 1)
    assert error["message"] == "format long needs 8 bytes, found 4"
