"""Events that signals set."""

from __future__ import annotations

import queue
import signal
import threading

#: the signals that ask a process to stop
STOPPING = (signal.SIGTERM, signal.SIGINT)


def set_on_signals(event: threading.Event) -> None:
    """Set the event when the process is asked to stop; in the main thread only.

    The handler does not set it itself. It interrupts the main thread, which may just then hold the
    event's lock, in a method of the event: it would wait for itself.
    """
    arrived: queue.SimpleQueue[int] = queue.SimpleQueue()

    def wait() -> None:
        while True:
            arrived.get()
            event.set()

    threading.Thread(target=wait, name="signals", daemon=True).start()
    for number in STOPPING:
        # `put` is safe in a handler, also while another one is in it.
        signal.signal(number, lambda number, _: arrived.put(number))
