"""Goldens are compiled with the compiler tests' recorded answers of the analyzer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from millrace_compiler import Analyzer, RecordedAnalyzer, SocketAnalyzer

RECORDED = Path(__file__).parents[1] / "compiler" / "recorded_analysis.json"
RECORD = "MILLRACE_RECORD_ANALYSIS"  # socket of a running analyzer


@pytest.fixture(scope="session")
def analyzer() -> Iterator[Analyzer]:
    path = os.environ.get(RECORD)
    known = RecordedAnalyzer(RECORDED, SocketAnalyzer(path) if path else None)
    yield known
    if known.inner is not None:
        known.save()
