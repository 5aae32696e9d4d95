"""Kills of deployments in stream threads: every update is read once and in order."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import kills

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow, pytest.mark.long]


@pytest.mark.parametrize("host", [0, 3])
def test_counts_are_exactly_once_over_kills_of_threads(tmp_path: Path, host: int) -> None:
    found = kills.run(tmp_path, 4, 40, host=host, rate=100, seed=3)
    assert len(found.kills) == 4
    assert all(each.threads and each.recovered for each in found.kills)
    assert found.purchases > 1_000
