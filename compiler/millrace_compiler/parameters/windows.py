"""Windows of aggregations."""

from __future__ import annotations

import functools
import zoneinfo
from collections.abc import Mapping
from dataclasses import dataclass

from millrace_compiler.diagnostics.diagnostics import shown
from millrace_compiler.diagnostics.guesses import guess
from millrace_compiler.documents.durations import LONGEST, show_duration
from millrace_compiler.parameters.parameters import Faults, Parameter, read_duration
from millrace_compiler.parameters.parts import Code, functions_in, takes
from millrace_compiler.parameters.summaries import Sentence

_PARTS: dict[str, tuple[str, ...]] = {
    "tumbling": ("size", "unit", "time_zone", "offset", "grace"),
    "hopping": ("size", "advance", "offset", "grace"),
    "sliding": ("difference", "grace"),
    "session": ("gap", "grace"),
    "unlimited": ("start",),
    "custom": ("code", "size", "grace"),
}
#: parts that are 0 if they are absent
_ZERO = ("grace", "start")
#: parts that a window has only if they are given
_OPTIONAL = ("unit", "time_zone", "offset")
#: the sentence about a window, and the part of which each of its times is the value
_SENTENCES: dict[str, tuple[str, dict[str, str]]] = {
    "tumbling": ("per {time}", {"time": "size"}),
    "hopping": ("per {time1} every {time2}", {"time1": "size", "time2": "advance"}),
    "sliding": ("within {time}", {"time": "difference"}),
    "session": ("in sessions with gaps up to {time}", {"time": "gap"}),
    "unlimited": ("in one unlimited window", {}),
    "custom": ("in windows of {name}", {}),
}
_DAY = 86_400_000
#: days of the longest and of the shortest one, without changes of clocks
_UNITS = {"day": (1, 1), "week": (7, 7), "month": (31, 28), "quarter": (92, 90), "year": (366, 365)}
#: names that are files of the time zone database rather than zones
_NO_ZONES = ("posix/", "right/", "Factory", "localtime", "posixrules")


@functools.cache
def _zones() -> frozenset[str]:
    """The names of the IANA time zone database that name a place, and UTC."""
    found = (name for name in zoneinfo.available_timezones() if "/" in name)
    return frozenset({"UTC", *(name for name in found if not name.startswith(_NO_ZONES))})


@dataclass(frozen=True)
class Window:
    """A window: its type, and its properties in a fixed order: words, or times in ms."""

    type: str
    parts: tuple[tuple[str, int | str], ...]

    @classmethod
    def of(cls, raw: Mapping[str, int | str | None]) -> Window:
        """The window of the JSON form that :meth:`to_json` returns, with any further parts."""
        type_ = str(raw["type"])
        found = ((part, raw.get(part)) for part in _PARTS[type_])
        return cls(type_, tuple((part, value) for part, value in found if value is not None))

    def part(self, name: str) -> int:
        """A property in ms; 0 if it is absent."""
        found = dict(self.parts).get(name, 0)
        return found if isinstance(found, int) else 0

    @property
    def unit(self) -> str | None:
        """The unit of calendar windows: `day`, `week`, `month`, `quarter` or `year`."""
        found = dict(self.parts).get("unit")
        return None if found is None else str(found)

    @property
    def size(self) -> int:
        """The size in ms. Of calendar windows a day more than the longest, as clocks change."""
        return self.part("size") if self.unit is None else (_UNITS[self.unit][0] + 1) * _DAY

    @property
    def reach(self) -> int:
        """The minimum retention of the window's store, in ms; the maximum for unlimited windows."""
        span = {
            "tumbling": self.size,
            "hopping": self.size,
            "sliding": 2 * self.part("difference"),
            "session": self.part("gap"),
            "unlimited": LONGEST,
            "custom": self.size,
        }[self.type]
        return span + self.part("grace")

    @property
    def closing_delay(self) -> int:
        """How long after a window's end records may still change it, in ms."""
        return self.part("grace") + (self.part("gap") if self.type == "session" else 0)

    @property
    def code(self) -> str | None:
        """The source of windows of one's own, whose last function returns them."""
        return str(dict(self.parts)["code"]) if self.type == "custom" else None

    @property
    def function(self) -> str:
        """The name of the function of windows of one's own."""
        found = functions_in(self.code or "")
        return found[-1] if found else ""

    @property
    def length(self) -> int:
        """The time from the start to the end of a window, in ms; 0 if it differs or has no end."""
        return self.part("size") or self.part("difference")

    def to_json(self) -> dict[str, object]:
        """The JSON form of documents, with all durations in ms."""
        return {"type": self.type, **dict(self.parts)}

    def to_step(self) -> dict[str, object]:
        """The parameter of a step: the JSON form, with the name of a function."""
        function = {"function": self.function} if self.code else {}
        return {**self.to_json(), **function}

    def sentence(self) -> Sentence:
        """The window in words for summaries, such as "per 1 hour"."""
        form, times = _SENTENCES[self.type]
        if self.unit is not None:
            zone = str(dict(self.parts).get("time_zone", "UTC"))
            found = Sentence(f"per {self.unit} in {{zone}}", zone=zone)
        elif self.code is not None:
            found = Sentence(form, name=self.function)
        else:
            values = {name: show_duration(self.part(part)) for name, part in times.items()}
            found = Sentence(form, **values)
        for name in ("offset", "grace"):
            if self.part(name):
                time = show_duration(self.part(name))
                found = Sentence(f"{{window}}, {name} {{time}}", window=found, time=time)
        return found


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
        calendar = type_ == "tumbling" and raw.get("unit") is not None
        if calendar and raw.get("size") is not None:
            faults.add("window_size_and_unit", path=".size")
        if type_ == "tumbling" and not calendar and raw.get("time_zone") is not None:
            faults.add("window_zone", path=".time_zone")
        parts: list[tuple[str, int | str]] = []
        for part in known:
            if calendar and part == "size":
                continue
            value = raw.get(part)
            if value is not None:
                parts += self._part(part, value, faults, calendar=calendar)
            elif part not in _OPTIONAL:
                if part not in _ZERO and not calendar:
                    faults.add("window_part_missing", path=f".{part}", part=part, type=type_)
                parts.append((part, 0 if part in _ZERO else 1))
        return self._checked(Window(type_, tuple(p for p in parts if p != ("offset", 0))), faults)

    def _part(
        self, part: str, value: object, faults: Faults, *, calendar: bool
    ) -> list[tuple[str, int | str]]:
        match part:
            case "unit":
                return [(part, _unit(value, faults))]
            case "time_zone":
                return [(part, _zone(value, faults))] if calendar else []
            case "code":
                return [(part, _function(value, faults))]
            case _:
                least = 1 if part in ("size", "advance") else 0
                return [(part, read_duration(value, faults, least, f".{part}"))]

    def _checked(self, window: Window, faults: Faults) -> Window:
        if window.type == "hopping" and window.part("advance") > window.part("size"):
            size, advance = window.part("size"), window.part("advance")
            faults.add("window_advance", path=".advance", advance=advance, size=size)
            return self.neutral()
        between = window.part("advance") or window.part("size")
        if window.unit is not None:
            between = _UNITS[window.unit][1] * _DAY
        if window.part("offset") >= between > 0:
            offset = show_duration(window.part("offset"))
            between_text = show_duration(between)
            faults.add("window_offset", path=".offset", offset=offset, between=between_text)
            return self.neutral()
        if window.type != "unlimited" and window.reach > LONGEST:
            faults.add("duration_too_long", path=".grace", what="size and grace together")
            return self.neutral()
        return window


def _function(raw: object, faults: Faults) -> str:
    """The code, whose last function takes a timestamp."""
    code = Code("Windows", "").parse(raw, faults.within(".code"))
    found = functions_in(code)
    if code and not found:
        faults.add("window_function", path=".code")
    elif code and not takes(code, found[-1], 1):
        faults.add("window_arguments", path=".code", name=found[-1])
    return code


def _unit(raw: object, faults: Faults) -> str:
    if not isinstance(raw, str) or raw not in _UNITS:
        faults.add("choice", path=".unit", found=shown(raw), choices=", ".join(_UNITS))
        return "day"
    return raw


def _zone(raw: object, faults: Faults) -> str:
    if not isinstance(raw, str) or raw not in _zones():
        close = guess(raw, sorted(_zones())) if isinstance(raw, str) else ""
        faults.add("window_zone_unknown", path=".time_zone", found=shown(raw), guess=close)
        return "UTC"
    return raw
