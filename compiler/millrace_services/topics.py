"""New topics of a Kafka cluster, which a broker lists a moment after they were created."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Container
from typing import TypeVar

#: seconds between two looks for a new topic
PAUSE_SECONDS = 0.05

Topics = TypeVar("Topics", bound=Container[str])


def listed(ask: Callable[[], Topics], names: Collection[str], seconds: float) -> Topics:
    """Return what ``ask`` returns, as soon as it has all these names or the seconds are over.

    A broker learns of a new topic only after the controller has confirmed it to the client.
    """
    until = time.monotonic() + seconds
    while True:
        found = ask()
        if all(name in found for name in names) or time.monotonic() >= until:
            return found
        time.sleep(PAUSE_SECONDS)
