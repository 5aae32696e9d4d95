"""Fixtures of the compiler's tests: recorded answers of the analyzer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from millrace_compiler import Analyzer, RecordedAnalyzer, SocketAnalyzer

RECORDED = Path(__file__).parent / "recorded_analysis.json"
RECORD = "MILLRACE_RECORD_ANALYSIS"  # socket of a running analyzer


def recorded() -> RecordedAnalyzer:
    """Recorded answers; an analyzer in MILLRACE_RECORD_ANALYSIS answers and records new ones."""
    path = os.environ.get(RECORD)
    return RecordedAnalyzer(RECORDED, SocketAnalyzer(path) if path else None)


@pytest.fixture(scope="session")
def analyzer() -> Iterator[Analyzer]:
    known = recorded()
    yield known
    if known.inner is not None:
        known.save()
