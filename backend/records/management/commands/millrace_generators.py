"""Writes the records of all generators, until it is stopped."""

from __future__ import annotations

import fcntl
import signal
import time
from types import FrameType
from typing import Any

from django.conf import settings
from millrace_backend.commands import ProjectCommand
from millrace_services import local_services

from records.writing import Writer

#: lock file in the data folder; the process that holds the lock writes
LOCK = "generators.lock"
WAIT_SECONDS = 1.0


class Command(ProjectCommand):
    """``millrace_generators``."""

    help = "Writes the records of all generators, until it is stopped; a second one waits."

    def handle(self, *args: Any, **options: Any) -> None:
        """Wait for the lock, then write until TERM or INT.

        With an inherited socket, each connection to it is a request to look for new generators, and
        the command also ends when there has been none to run for a while.
        """
        ended = False

        def stop(_number: int, _frame: FrameType | None) -> None:
            nonlocal ended
            ended = True

        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, stop)
        folder = settings.MILLRACE_DATA
        folder.mkdir(parents=True, exist_ok=True)
        listening = local_services.inherited()
        quiet = None if listening is None else local_services.idle_seconds()
        with (folder / LOCK).open("a", encoding="utf-8") as lock:
            self.stdout.write("READY")
            self.stdout.flush()
            while not ended:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    time.sleep(WAIT_SECONDS)
                    continue
                if Writer(lambda: ended, listening, quiet).run():
                    self.stdout.write("IDLE")
                    return
