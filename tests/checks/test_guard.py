"""The guard against slower topologies: which costs exceed their limits."""

from __future__ import annotations

import json

from bench import guard, throughput


def test_a_topology_that_costs_more_or_has_no_limit_is_over() -> None:
    limits = {"count": 10.0, "join": 10.0, "stateless": 10.0}
    found = {"count": 11.4, "join": 11.6, "stateless": 4.0, "sessions": 1.0}
    assert guard.show(found, limits) == ["join", "sessions"]


def test_every_measured_topology_has_a_limit() -> None:
    assert json.loads(guard.LIMITS.read_text()).keys() == throughput.documents().keys()
