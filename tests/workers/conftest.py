"""A deployment with scripted external parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from millrace_workers.doubles import Bench, ScriptedTopics
from millrace_workers.model import Deployment

from tests.workers.kit import DOCUMENT


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    topics = ScriptedTopics({"in": 2, "out": 1})
    return Bench(
        Deployment(
            id=7,
            name="sample",
            version=1,
            document=cast(Any, DOCUMENT),
            settings={},
            desired="running",
            observed="new",
            directory=tmp_path,
            since=1000.0,
        ),
        topics=topics,
    )
