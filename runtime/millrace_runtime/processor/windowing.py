"""Windows of one's own: a function of a document that returns the windows of a timestamp.

Uses the standard library only: a processor's process imports it.
"""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING, Any

from millrace_runtime.processor.running import run_code

if TYPE_CHECKING:
    from millrace_runtime.processor.breakpoints import Breakpoints
    from millrace_runtime.processor.channel import Channel
    from millrace_runtime.processor.frames import Frame


class WindowHost:
    """The function of an aggregation in the Python process of a task."""

    def __init__(
        self, channel: Channel, frame: Frame, breakpoints: Breakpoints | None = None
    ) -> None:
        self.channel = channel
        self.file = file_of(frame)
        self._name, self._code, self._function = frame["name"], frame["code"], frame["function"]
        self._windows: Any = None
        self._breakpoints = breakpoints

    def start(self, names: dict[str, object]) -> None:
        """Run the code, which may use `names`, and find the function."""
        lines = self._code.splitlines(keepends=True)
        linecache.cache[self.file] = (len(self._code), None, lines, self.file)
        module = run_code(self._code, self.file, f"windows_{self._name}", names)
        self._windows = getattr(module, self._function)

    def call(self, frame: Frame) -> None:
        """Send the windows of a timestamp: one for each start, in the order of the function."""
        found: dict[int, int] = {}

        def call() -> None:
            # A generator's lines run while it is listed.
            for window in _listed(self._windows(frame["timestamp"]), self._function):
                start, end = _window(window, self._function)
                found[start] = end

        if self._breakpoints is None:
            call()
        else:
            self._breakpoints.run(call)
        self.channel.send("windows", [list(each) for each in found.items()])


def file_of(frame: Frame) -> str:
    """Return the file that the lines of the function count in."""
    return frame.get("file") or f"<windows of {frame['name']}>"


def _listed(found: Any, name: str) -> list[Any]:
    try:
        return list(found)
    except TypeError:
        raise TypeError(
            f"{name} must return pairs (start, end) in ms, not {found!r}"[:300]
        ) from None


def _window(window: Any, name: str) -> tuple[int, int]:
    """Return start and end. Raises TypeError or ValueError if it is no window."""
    pair = isinstance(window, tuple | list) and len(window) == 2
    if not pair or any(type(each) is not int for each in window):
        raise TypeError(f"{name} must return pairs (start, end) in ms, not {window!r}"[:300])
    start, end = window
    if start < 0:
        raise ValueError(f"{name} returned a window that starts before 1970: {start}")
    if end <= start:
        raise ValueError(f"{name} returned a window that ends at {end}, not after {start}")
    return start, end
