"""Replacement of the threads of a job that a record stopped, as Kafka Streams' REPLACE_THREAD."""

from __future__ import annotations

import dataclasses

WINDOW_SECONDS = 600.0
#: failures within this time that end the job
LIMIT = 8
LONGEST_WAIT_SECONDS = 8.0


@dataclasses.dataclass
class Replacements:
    """Counts failures. `enabled`: whether the topology's uncaught exception handler asks for it."""

    enabled: bool
    _failures: list[float] = dataclasses.field(default_factory=list)

    def wait_after_failure(self, now: float) -> float | None:
        """Return the seconds to wait before the next start, or None if the job has to end."""
        if not self.enabled:
            return None
        self._failures = [at for at in self._failures if now - at < WINDOW_SECONDS] + [now]
        count = len(self._failures)
        if count >= LIMIT:
            return None
        return float(min(LONGEST_WAIT_SECONDS, 0.5 * 2 ** (count - 1)))

    def sentence(self, message: str, wait: float) -> str:
        """Return the log line of a replacement."""
        return (
            f"{message.rstrip('.')}. The threads are replaced in {wait:g} s and process the record "
            f"again (failure {len(self._failures)} of {LIMIT} within {WINDOW_SECONDS / 60:.0f} "
            "minutes that end the job)."
        )
