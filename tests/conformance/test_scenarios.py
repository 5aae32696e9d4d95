"""Every recorded scenario gives Kafka Streams' results on Spark, in any micro-batches.

A sample is restarted after every record and cut into random micro-batches, and some of those that
may have one micro-batch also run with one for each record; with MILLRACE_CONFORMANCE=whole every
scenario does. Without it, scenarios that do not depend on others run side by side in one query.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from millrace_model.scenarios import ScenarioResult
from millrace_runtime.results.comparing import differences

FOLDER = Path(__file__).parent / "scenarios"
SCENARIOS = {
    scenario["id"]: scenario
    for scenario in (json.loads(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.json")))
}
RUN = [
    name
    for name, scenario in SCENARIOS.items()
    if scenario["compare"] not in ("refused", "describe") and not scenario["expected"]["error"]
]
FREE = [name for name in RUN if "all" in SCENARIOS[name]["cuts"]]
WHOLE = os.environ.get("MILLRACE_CONFORMANCE") == "whole"
chosen = random.Random(4)
# Fields of a processor object are lost at a restart, in Kafka Streams too, because a new object is
# created. Stores, clocks and schedules continue. So the counts in these scenarios start again.
FORGOTTEN = {
    "M53": [(1, "left", 2), (3, "left", 2), (4, "left", 2), (5, "left", 2), (6, "left", 0),
            (8, "left", 2), (9, "left", 2)],
    "M56": [(1, "stream", 1), (3, "stream", 2), (4, "wall", 120), (6, "wall", 120),
            (7, "stream", 8), (10, "wall", 399), (11, "stream", 32)],
}  # fmt: skip
LASTING = [name for name in RUN if name not in FORGOTTEN]
RECORD_BY_RECORD = set(RUN) if WHOLE else set(RUN) - set(chosen.sample(FREE, len(FREE) * 7 // 8))
RESTARTED = LASTING if WHOLE else chosen.sample(LASTING, 8)
SEED = chosen.randrange(1000)
RANDOMLY_CUT = [
    (name, chosen.randrange(1000) if WHOLE else SEED)
    for name in (FREE if WHOLE else chosen.sample(FREE, 8))
]
#: scenarios of one query
TOGETHER = 1 if WHOLE else 12


class Results:
    """Runs scenarios two at a time; those of the selected tests are begun at once."""

    def __init__(self, wanted: list[tuple[str, str, bool]]) -> None:
        from cli.packing import packable, packs
        from cli.simulating import Warm

        self._warm = Warm(cores=2)
        self._pool = ThreadPoolExecutor(2)
        self._begun: dict[tuple[str, str, bool], Future[Any]] = {}
        self._packed: dict[tuple[str, str, bool], Future[dict[str, ScenarioResult]]] = {}
        for cut, restart in sorted({each[1:] for each in wanted}):
            named = [SCENARIOS[name] for name, *way in wanted if way == [cut, restart]]
            together = [each for each in named if each["id"] in RUN and packable(each)]
            for group in packs(together, TOGETHER):
                if len(group) > 1:
                    run = self._pool.submit(self._together, group, cut, restart)
                    self._packed.update(((each["id"], cut, restart), run) for each in group)
        for each in wanted:
            if each not in self._packed:
                self._begin(each)

    def _together(self, group: list[Any], cut: str, restart: bool) -> dict[str, ScenarioResult]:
        from millrace_runtime.results.cuts import Cut

        from cli.packing import Pack

        pack = Pack(group)
        found = self._warm.simulate_pack(pack, Cut.parse(cut), restart_each=restart)
        assert found.error is None
        return {each["id"]: of for each, of in zip(group, pack.results(found), strict=True)}

    def _begin(self, key: tuple[str, str, bool]) -> Future[Any]:
        from millrace_runtime.results.cuts import Cut

        from cli.simulating import run_scenario

        if key not in self._begun:
            name, cut, restart = key
            self._begun[key] = self._pool.submit(
                run_scenario,
                self._warm,
                SCENARIOS[name],
                Cut.parse(cut),
                restart_each=restart,
            )
        return self._begun[key]

    def result(self, name: str, cut: str, *, restart: bool = False) -> Any:
        """Return the result of a scenario."""
        if (name, cut, restart) in self._packed:
            return self._packed[name, cut, restart].result()[name]
        return self._begin((name, cut, restart)).result()

    def of(self, name: str, cut: str, *, restart: bool = False) -> list[str]:
        """Return the differences between a scenario's result and that of Kafka Streams."""
        return differences(SCENARIOS[name], self.result(name, cut, restart=restart), cut)

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._warm.close()


@pytest.fixture(scope="module")
def results(request: pytest.FixtureRequest) -> Iterator[Results]:
    wanted: list[tuple[str, str, bool]] = []
    for item in request.session.items:
        if item.path == Path(__file__) and isinstance(item, pytest.Function):
            call = item.callspec.params
            cut = call.get("cut") or (f"random:{call['seed']}" if "seed" in call else "each")
            wanted.append((str(call["name"]), str(cut), "restarted" in item.name))
    running = Results(wanted)
    yield running
    running.close()


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "cut"),
    [
        (name, cut)
        for name, scenario in SCENARIOS.items()
        for cut in scenario["cuts"]
        if cut != "each" or name not in FREE or name in RECORD_BY_RECORD
    ],
)
def test_spark_gives_what_kafka_streams_gave(name: str, cut: str, results: Results) -> None:
    assert results.of(name, cut) == []


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize(("name", "seed"), RANDOMLY_CUT)
def test_any_cut_into_micro_batches_gives_the_same(name: str, seed: int, results: Results) -> None:
    assert results.of(name, f"random:{seed}") == []


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("name", RESTARTED)
def test_a_job_restarted_after_every_record_gives_the_same(name: str, results: Results) -> None:
    assert results.of(name, "each", restart=True) == []


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("name", FORGOTTEN)
def test_fields_of_a_restarted_processor_begin_anew_and_schedules_go_on(
    name: str, results: Results
) -> None:
    outputs = results.result(name, "each", restart=True)["outputs"]
    assert [(out["after"], out["key"], out["value"]) for out in outputs] == FORGOTTEN[name]
