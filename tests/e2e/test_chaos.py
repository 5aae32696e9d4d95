"""Random faults, two at a time: every update is read once and in order."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import chaos

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow, pytest.mark.long]


def test_counts_are_exactly_once_over_random_faults(tmp_path: Path) -> None:
    found = chaos.run(tmp_path, seconds=20, rate=300, seed=22, stop_seconds=5, least=2, beside=True)
    assert len(found.faults) >= 4
    assert all(each.recovered is not None for each in found.faults)
    assert found.records > 2_000
