"""Results of the plain dialect equal those of Kafka Streams, or an announced code explains why not.

Each code has a scenario that shows it. A sample runs with the other tests; with
MILLRACE_CONFORMANCE=whole every scenario runs. `./millrace conformance tests/conformance/scenarios
--dialect plain --out RESULTS` prints the counts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from millrace_compiler.diagnostics.messages.plain import PLAIN
from millrace_runtime.plain.predicting import RECORDS, unexplained, verdict

HERE = Path(__file__).parent
WHOLE = os.environ.get("MILLRACE_CONFORMANCE") == "whole"

#: The scenario that shows a difference, and how its lines are cut into micro-batches.
SHOWN: dict[str, tuple[str, str]] = {
    "plain_sink_timestamp": ("A01", "each"),
    "plain_updates": ("C01", "all"),
    "plain_order": ("E06", "each"),
    "plain_late": ("I06", "each"),
    "plain_session_final": ("G01a", "each"),
    "plain_outer_results": ("I08", "each"),
    "plain_headers": ("plain-headers", "each"),
    "plain_drops": ("D01", "each"),
    "plain_aggregate_null": ("C03", "each"),
    "plain_table_now": ("J06", "all"),
    "plain_null_array": ("A55", "each"),
    "plain_failed_batch": ("A57", "each"),
    "plain_processing_handler": ("A10a", "each"),
    "plain_processor_fields": ("M53", "each"),
    "plain_sides": ("D52", "each"),
    "plain_first_update": ("C50", "each"),
    "plain_unchanged": ("plain-unchanged", "each"),
    "plain_fold_order": ("C52", "all"),
    "plain_stream_time": ("plain-stream-time", "each"),
}
SCENARIOS = {
    path.stem: path
    for folder in ("scenarios", "semantics")
    for path in sorted((HERE / folder).glob("*.json"))
}


def scenario(name: str) -> Any:
    found: Any = json.loads(SCENARIOS[name].read_text("utf-8"))
    return found


@pytest.fixture(scope="module")
def run() -> Iterator[Any]:
    from millrace_runtime.results.cuts import Cut

    from cli.simulating import Warm, run_scenario

    warm = Warm(cores=2)

    def result_of(each: Any, cut: str) -> Any:
        result = run_scenario(warm, each, Cut.parse(cut), dialect="plain")
        if (result["error"] or {}).get("code") == "python_packages":
            pytest.skip(result["error"]["message"])
        return result

    yield result_of
    warm.close()


def test_every_difference_has_a_scenario_that_shows_it() -> None:
    assert set(SHOWN) == {code for code, prose in PLAIN.items() if prose.severity == "difference"}


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("code", SHOWN if WHOLE else sorted(SHOWN)[::5])
def test_a_difference_is_announced_where_the_result_would_be_wrong(code: str, run: Any) -> None:
    name, cut = SHOWN[code]
    recorded = scenario(name)
    result = run(recorded, cut)
    codes = {each["code"] for each in result["differences"]}
    assert code in codes
    # Of the codes for differing records, only the one under test may explain the difference.
    codes -= RECORDS - {code}
    assert unexplained(recorded, result, cut, codes) == []
    assert unexplained(recorded, result, cut, codes - {code}) != []


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    SCENARIOS if WHOLE else ["N01", "C01", "J53", "L03", "null-keys-behind-a-repartition"],
)
def test_a_result_is_equal_or_was_announced_to_differ(name: str, run: Any) -> None:
    recorded = scenario(name)
    if recorded["compare"] in ("refused", "describe"):
        return
    assert verdict(recorded, run(recorded, "each"), "each") != "wrong"


@pytest.mark.spark
@pytest.mark.slow
def test_results_have_differences_and_no_stores_and_refusals_an_address(run: Any) -> None:
    result = run(scenario("A02"), "each")
    assert set(result) == {"id", "outputs", "dropped", "differences", "error"}
    assert {"code": "plain_sink_timestamp", "node": "out"} in result["differences"]
    refused = run(scenario("G50"), "each")["error"]
    assert (refused["code"], refused["parameter"]) == ("plain_kind", "window")
    assert refused["message"]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("cut", ["each", "all"])
def test_a_record_that_fails_is_an_answer_and_nothing_in_the_log(
    cut: str, run: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    recorded = scenario("A57")
    result = run(recorded, cut)
    assert "ARITHMETIC_OVERFLOW" in result["error"]["message"]
    assert verdict(recorded, result, cut) == "predicted"
    written = capfd.readouterr()
    assert "ARITHMETIC_OVERFLOW" not in written.out + written.err


@pytest.mark.spark
@pytest.mark.long
def test_verify_prints_what_differs_and_ends_with_0_if_it_was_announced(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from cli.main import main

    recorded = scenario("plain-headers")
    document, inputs = tmp_path / "topology.json", tmp_path / "in.jsonl"
    document.write_text(json.dumps(recorded["topology"]), "utf-8")
    inputs.write_text("".join(json.dumps(each) + "\n" for each in recorded["inputs"]), "utf-8")
    command = ["verify", str(document), "--inputs", str(inputs), "--dialect", "plain"]
    assert main(command) == 0
    written = capfd.readouterr()
    assert "t1" in written.out
    assert "different, as reported: " in written.err
    assert "plain_headers" in written.err


@pytest.mark.spark
@pytest.mark.long
def test_random_topologies_have_no_difference_that_is_not_reported(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from cli.main import main

    numbers = ["--random", "2", "--seed", "41", "--first", "13"]
    command = ["verify", *numbers, "--dialect", "plain", "--cut", "all", "--keep", str(tmp_path)]
    assert main(command) == 0
    counted = capfd.readouterr().err
    assert "0 equal, 1 predicted, 0 refused, 0 wrong, 1 not compared" in counted
    assert "1 with cogroup" in counted
