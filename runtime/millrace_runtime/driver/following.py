"""The life cycle of a shadow's query: one micro-batch for each that the deployment completed."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Any

from millrace_runtime.driver.control import HEARTBEAT_SECONDS
from millrace_runtime.driver.life_cycle import Driving
from millrace_runtime.driver.shadow import LOOK_SECONDS, Begin, Shadow


@dataclasses.dataclass
class Following(Driving):
    """Runs one query after the other, each up to the position that the deployment has reached."""

    _due: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        arguments = self.arguments
        self.shadow = Shadow(
            Path(arguments.follow.removeprefix("file://")),
            Path(arguments.checkpoint.removeprefix("file://")),
            arguments.copy_state,
            arguments.max_records,
        )
        self.starter.planner = self._plan

    def _plan(self, location: str, kafka: Any, job: Any) -> None:
        begin = Begin(self.starter.spark, kafka.client, job.shuffle_partitions, kafka.wall_clock)
        self.shadow.plan(str(Path(location)), job.graph["nodes"], begin)

    def _work(self) -> bool:
        """Return whether the shadow has read all that the deployment has, and should end then."""
        wanted = self._wanted()
        if wanted == "pause":
            return False
        if not self.shadow.prepare():
            if time.monotonic() >= self._due:
                self.report.state("running")
                self._due = time.monotonic() + HEARTBEAT_SECONDS
            if wanted == "drain" or self.arguments.available_now:
                return True
            self.stopping.wait(LOOK_SECONDS)
            return False
        query = self._start("planned")
        self.report.state("running")
        if self._wait(query, "trigger", wanted):
            self.shadow.done()
        return False
