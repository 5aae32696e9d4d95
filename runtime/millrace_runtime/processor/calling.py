"""Functions that the expressions of a node call, in the Python process of a task.

Uses the standard library only: a processor's process imports it.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from millrace_runtime.processor.running import run_code
from millrace_runtime.processor.values import Convert, decoder, encoder

if TYPE_CHECKING:
    from millrace_runtime.processor.breakpoints import Breakpoints
    from millrace_runtime.processor.channel import Channel
    from millrace_runtime.processor.frames import Frame


class FunctionHost:
    """The functions of a node: each use has the types of its arguments and of its result."""

    def __init__(
        self, channel: Channel, frame: Frame, breakpoints: Breakpoints | None = None
    ) -> None:
        self.channel = channel
        self.file = file_of(frame)
        self._name, self._code, self._judges = frame["name"], frame["code"], frame["judges"]
        self._module: Any = None
        self._uses: dict[int, tuple[Callable[..., Any], list[Convert], Convert]] = {}
        self._breakpoints = breakpoints

    def start(self, names: dict[str, object]) -> None:
        """Run the code, which may use `names`."""
        lines = self._code.splitlines(keepends=True)
        linecache.cache[self.file] = (len(self._code), None, lines, self.file)
        self._module = run_code(self._code, self.file, f"functions_{self._name}", names)

    def call(self, frame: Frame) -> None:
        """Send what a function returns for its arguments."""
        use = frame["use"]
        if use not in self._uses:
            self._uses[use] = self._read(frame)
        function, reads, write = self._uses[use]
        given = [read(value) for read, value in zip(reads, frame["arguments"], strict=True)]
        result: Any = None

        def call() -> None:
            nonlocal result
            result = function(*given)

        if self._breakpoints is None:
            result = function(*given)
        else:
            self._breakpoints.run(call)
        self.channel.send("result", write(result))

    def _read(self, frame: Frame) -> tuple[Callable[..., Any], list[Convert], Convert]:
        name = frame["function"]
        function = getattr(self._module, name)
        *types, returns = frame["types"]
        write = encoder(returns, f"the result of {name}")
        if self._judges and returns == "boolean":
            write = _truth
        elif _is_pair(returns):
            write = _paired(write)
        return function, [decoder(each) for each in types], write


def file_of(frame: Frame) -> str:
    """Return the file that the lines of the functions count in."""
    return frame.get("file") or f"<functions of {frame['name']}>"


def _truth(value: Any) -> bool:
    return bool(value)


def _is_pair(kind: Any) -> bool:
    fields = kind.get("fields", ()) if isinstance(kind, dict) else ()
    return [each["name"] for each in fields] == ["key", "value"]


def _paired(write: Convert) -> Convert:
    """The converter for a tuple of key and value."""

    def convert(value: Any) -> Any:
        if type(value) is tuple and len(value) == 2:
            value = {"key": value[0], "value": value[1]}
        return write(value)

    return convert
