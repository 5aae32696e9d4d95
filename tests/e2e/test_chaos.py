"""Random faults, two at a time: every update is read once and in order."""

from __future__ import annotations

from pathlib import Path

from bench import chaos
from tests.e2e.system import OWN_SYSTEM

pytestmark = OWN_SYSTEM


def test_counts_are_exactly_once_over_random_faults(tmp_path: Path) -> None:
    found = chaos.run(tmp_path, seconds=45, rate=300, seed=7, stop_seconds=5, beside=True)
    assert len(found.faults) >= 4
    assert all(each.recovered is not None for each in found.faults)
    assert found.records > 10_000
