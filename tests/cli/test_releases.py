"""`verify --kafka`: results of one topology on several releases of Kafka Streams."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, cast

import pytest
from millrace_compiler.declarations.operator import registry

from cli.main import main
from cli.oracle import RELEASES
from cli.releases import KNOWN, described
from launcher import jars

CONFORMANCE = Path(__file__).parents[1] / "conformance"
SCENARIO = CONFORMANCE / "scenarios/A01.json"
DEAD_LETTERS: Any = {"settings": {"dead_letter_topic": "bad"}, "nodes": []}


def verify(*options: str) -> int:
    try:
        return main(["verify", *options])
    except SystemExit as end:
        return int(end.code or 0)


def test_every_release_has_locked_jars_of_its_version() -> None:
    locked = {
        (jar.group, jar.version) for jar in jars.read_lock() if jar.artifact == "kafka-streams"
    }
    assert {group for group, _ in locked} == set(RELEASES.values())
    for release, group in RELEASES.items():
        assert any(g == group and version.startswith(release) for g, version in locked)


def test_an_unknown_release_is_refused_with_the_known_ones(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert verify("--random", "1", "--kafka", "2.8") != 0
    assert "4.4, 4.3, 4.2, 4.1, 4.0, 3.9" in capsys.readouterr().err


def test_releases_need_something_to_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify("--kafka", "4.4", "--kafka", "4.3") == 2
    assert "--inputs IN.jsonl, --random N or --recorded DIR" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--random", "1", "--kafka", "4.4"], "Pass --kafka twice"),
        (["--random", "1", "--recorded", "x", "--kafka", "4.4"], "only one of"),
        (["--random", "1", "--kafka", "4.4", "--kafka", "4.3", "--keep", "x"], "--keep is for"),
        (["--random", "1", "--kafka", "4.4", "--cut", "all"], "--cut is for"),
        (["--recorded", "x"], "--recorded needs --kafka"),
    ],
)
def test_options_that_would_have_no_effect_are_refused(
    options: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verify(*options) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "told"),
    [("{", "is not JSON"), ("{}", "it has no id"), ("[]", "is not a scenario")],
)
def test_a_file_that_is_no_scenario_is_named(
    text: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other.json").write_text(text, encoding="utf-8")
    assert verify("--recorded", str(tmp_path), "--kafka", "4.4") == 2
    found = capsys.readouterr().err
    assert "other.json" in found
    assert told in found


def test_a_known_change_is_named_on_the_releases_before_it() -> None:
    assert described("4.1", DEAD_LETTERS) == " (see KIP-1034, dead letters, in 4.2)"
    assert described("4.2", DEAD_LETTERS) == ""
    assert described("4.1", cast(Any, {"nodes": [{"kind": "filter"}]})) == ""
    assert {since for since, _, _ in KNOWN} < set(RELEASES)
    kinds = {kind for _, _, concerned in KNOWN for kind in concerned if "." in kind}
    assert kinds < set(registry())


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.long
def test_results_of_two_releases_are_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = json.loads(SCENARIO.read_text(encoding="utf-8"))
    document, inputs = tmp_path / "topology.json", tmp_path / "in.jsonl"
    document.write_text(json.dumps(scenario["topology"]), encoding="utf-8")
    lines = [json.dumps(each) for each in scenario["inputs"]]
    inputs.write_text("\n".join(lines), encoding="utf-8")
    releases = ["--kafka", "4.4", "--kafka", "4.3"]
    assert verify(str(document), "--inputs", str(inputs), *releases) == 0
    told = capsys.readouterr().err
    assert "Kafka Streams 4.4: 1 equal, 0 differ, 0 not run" in told
    assert "Kafka Streams 4.3: 1 equal, 0 differ, 0 not run" in told

    # A topology that every release refuses.
    refused = {**scenario["topology"], "settings": {"processing_guarantee": "twice"}}
    document.write_text(json.dumps(refused), encoding="utf-8")
    assert verify(str(document), "--inputs", str(inputs), *releases) == 0
    assert "Kafka Streams 4.3: 1 equal" in capsys.readouterr().err

    # Recorded results that no release gives.
    lost = scenario["expected"]["outputs"].pop()
    (tmp_path / "recorded").mkdir()
    (tmp_path / "recorded/other.json").write_text(json.dumps(scenario), encoding="utf-8")
    assert verify("--recorded", str(tmp_path / "recorded"), *releases) == 1
    told = capsys.readouterr().out
    assert f"{scenario['id']} on 4.3: " in told
    assert lost["topic"] in told


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.long
def test_what_a_release_does_not_have_is_not_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "schedules-from-a-start-time.json"
    shutil.copy(CONFORMANCE / "semantics" / name, tmp_path)
    assert verify("--recorded", str(tmp_path), "--kafka", "4.1") == 1
    told = capsys.readouterr()
    assert "Kafka Streams 4.1: 0 equal, 0 differ, 1 not run" in told.err
    assert "a schedule with a start time, before 4.2" in told.out
