"""Windows of aggregations."""

from __future__ import annotations

from dataclasses import dataclass

from millrace_compiler.diagnostics import shown
from millrace_compiler.durations import LONGEST, show_duration
from millrace_compiler.parameters import Faults, Parameter, read_duration

_PARTS: dict[str, tuple[str, ...]] = {
    "tumbling": ("size", "grace"),
    "hopping": ("size", "advance", "grace"),
    "sliding": ("difference", "grace"),
    "session": ("gap", "grace"),
    "unlimited": ("start",),
}


@dataclass(frozen=True)
class Window:
    """A window: its type, and its properties in ms in a fixed order."""

    type: str
    parts: tuple[tuple[str, int], ...]

    def part(self, name: str) -> int:
        """A property in ms; 0 if it is absent."""
        return dict(self.parts).get(name, 0)

    @property
    def reach(self) -> int:
        """The minimum retention of the window's store, in ms; the maximum for unlimited windows."""
        span = {
            "tumbling": self.part("size"),
            "hopping": self.part("size"),
            "sliding": 2 * self.part("difference"),
            "session": self.part("gap"),
            "unlimited": LONGEST,
        }[self.type]
        return span + self.part("grace")

    def to_json(self) -> dict[str, object]:
        """The JSON form of documents, with all durations in ms."""
        return {"type": self.type, **dict(self.parts)}

    def sentence(self) -> str:
        """The window in words for summaries, such as "per 1 hour"."""
        grace = self.part("grace")
        late = f", grace {show_duration(grace)}" if grace else ""
        show = {name: show_duration(ms) for name, ms in self.parts}
        return {
            "tumbling": "per {size}",
            "hopping": "per {size} every {advance}",
            "sliding": "within {difference}",
            "session": "in sessions with gaps up to {gap}",
            "unlimited": "in one unlimited window",
        }[self.type].format(**show) + late


class WindowOf(Parameter[Window]):
    """A window, ``{"type": "tumbling", "size": "1 hour", "grace": 0}``."""

    widget = "window"

    def neutral(self) -> Window:
        return Window("tumbling", (("size", 1), ("grace", 0)))

    def parse(self, raw: object, faults: Faults) -> Window:
        if not isinstance(raw, dict):
            faults.shape(raw, 'an object such as {"type": "tumbling", "size": "1 hour"}')
            return self.neutral()
        type_ = raw.get("type")
        if not isinstance(type_, str) or type_ not in _PARTS:
            faults.add("choice", path=".type", found=shown(type_), choices=", ".join(_PARTS))
            return self.neutral()
        known = _PARTS[type_]
        for part in raw:
            if part != "type" and part not in known:
                known_text = ", ".join(known)
                faults.add("window_part", path=f".{part}", part=part, type=type_, known=known_text)
        parts: list[tuple[str, int]] = []
        for part in known:
            value = raw.get(part)
            if value is None:
                if part not in ("grace", "start"):
                    faults.add("window_part_missing", path=f".{part}", part=part, type=type_)
                parts.append((part, 0 if part in ("grace", "start") else 1))
                continue
            least = 1 if part in ("size", "advance") else 0
            parts.append((part, read_duration(value, faults, least, f".{part}")))
        window = Window(type_, tuple(parts))
        if type_ == "hopping" and window.part("advance") > window.part("size"):
            size, advance = window.part("size"), window.part("advance")
            faults.add("window_advance", path=".advance", advance=advance, size=size)
            return self.neutral()
        if type_ != "unlimited" and window.reach > LONGEST:
            faults.add("duration_too_long", path=".grace", what="size and grace together")
            return self.neutral()
        return window
