"""Fixtures of the compiler's tests: recorded answers of the analyzer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from millrace_compiler import Analyzer, RecordedAnalyzer, SocketAnalyzer

RECORDED = Path(__file__).parent / "recorded_analysis.json"
RECORD = "MILLRACE_RECORD_ANALYSIS"  # host:port of a running analyzer


def recorded() -> RecordedAnalyzer:
    """Recorded answers; an analyzer in MILLRACE_RECORD_ANALYSIS answers and records new ones."""
    host, _, port = os.environ.get(RECORD, "").rpartition(":")
    return RecordedAnalyzer(RECORDED, SocketAnalyzer(host, int(port)) if host else None)


@pytest.fixture(scope="session")
def analyzer() -> Iterator[Analyzer]:
    known = recorded()
    yield known
    if known.inner is not None:
        known.save()
