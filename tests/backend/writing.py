"""The generators' process, run as a thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection
from records.models import Generator
from records.writing import Writer


@contextmanager
def writing() -> Iterator[None]:
    """Run the generators until the end of the block."""
    ended = threading.Event()

    def run() -> None:
        try:
            Writer(ended.is_set).run()
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(20)


def row_when(made: Any, condition: Callable[[Generator], bool]) -> Generator:
    deadline = time.monotonic() + 60
    while not condition(row := Generator.objects.get(pk=made["id"])):
        assert time.monotonic() < deadline, vars(row)
        time.sleep(0.1)
    return row
