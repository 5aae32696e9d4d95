"""A shadow's driver follows another checkpoint; a shadow that has ended is deleted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from millrace_workers.doubles import Bench
from millrace_workers.model import Follows
from millrace_workers.states.starting import spec_of

from tests.workers.kit import running


@pytest.mark.parametrize(
    ("copies", "begins"), [(True, ("--copy-state",)), (False, ("--start", "earliest"))]
)
def test_a_shadows_driver_follows_the_other_deployments_checkpoint(
    bench: Bench, copies: bool, begins: tuple[str, ...]
) -> None:
    follows = Follows(Path("/data/deployments/1/checkpoint"), copies_state=copies)
    bench.deployment = replace(bench.deployment, follows=follows)
    arguments = spec_of(bench.deployment, bench.tools()).arguments
    assert arguments[-2 - len(begins) :] == ("--follow", "/data/deployments/1/checkpoint", *begins)


def test_a_shadow_that_is_to_end_is_deleted_once_it_has_stopped(bench: Bench) -> None:
    running(bench)
    bench.deployment = replace(bench.deployment, desired="stopped", ending=True)
    bench.topics.away = True
    for _ in range(4):
        bench.tick()
    assert not bench.deleted
    assert bench.deployment.observed == "stopped"
    bench.topics.away = False
    bench.now += 120
    bench.tick()
    assert bench.deleted
