"""Writes the records of all generators, until it is stopped."""

from __future__ import annotations

import fcntl
import signal
import time
from types import FrameType
from typing import Any

from django.conf import settings
from millrace_backend.commands import ProjectCommand

from records.writing import Writer

#: lock file in the data folder; the process that holds the lock writes
LOCK = "generators.lock"
WAIT_SECONDS = 1.0


class Command(ProjectCommand):
    """``millrace_generators``."""

    help = "Writes the records of all generators, until it is stopped; a second one waits."

    def handle(self, *args: Any, **options: Any) -> None:
        """Wait for the lock, then write until TERM or INT."""
        ended = False

        def stop(_number: int, _frame: FrameType | None) -> None:
            nonlocal ended
            ended = True

        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, stop)
        folder = settings.MILLRACE_DATA
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / LOCK).open("a", encoding="utf-8") as lock:
            self.stdout.write("READY")
            self.stdout.flush()
            while not ended:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    time.sleep(WAIT_SECONDS)
                    continue
                Writer(lambda: ended).run()
