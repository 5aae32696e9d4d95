"""Which threads of Chromium work for the page, and at what, by a trace."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

CATEGORIES = [
    "blink.user_timing",
    "devtools.timeline",
    "disabled-by-default-devtools.timeline",
    "loading",
    "toplevel",
    "v8",
]

#: kinds of work by the name of the event; of nested events, the innermost known one counts
_SCRIPT, _STYLE, _PAINT = "scripts", "style and layout", "paint"
_KINDS = {
    "EvaluateScript": _SCRIPT,
    "FunctionCall": _SCRIPT,
    "FireAnimationFrame": _SCRIPT,
    "RunMicrotasks": _SCRIPT,
    "TimerFire": _SCRIPT,
    "EventDispatch": _SCRIPT,
    "v8.compile": _SCRIPT,
    "v8.compileModule": _SCRIPT,
    "MinorGC": _SCRIPT,
    "MajorGC": _SCRIPT,
    "UpdateLayoutTree": _STYLE,
    "Layout": _STYLE,
    "HitTest": _STYLE,
    "IntersectionObserverController::computeIntersections": _STYLE,
    "PrePaint": _PAINT,
    "Paint": _PAINT,
    "Layerize": _PAINT,
    "UpdateLayer": _PAINT,
    "Commit": _PAINT,
}
RASTER, COMPOSITING, OTHER = "raster", "compositing", "other"
#: all kinds, in the order of a table
KINDS = (_SCRIPT, _STYLE, _PAINT, OTHER, RASTER, COMPOSITING)
#: threads beside the main one, by the beginning of their names
_THREADS = {
    "CompositorTileWorker": RASTER,
    "ThreadPoolForegroundWorker": RASTER,
    "Compositor": COMPOSITING,
    "VizCompositorThread": COMPOSITING,
    "CrGpuMain": COMPOSITING,
}


@dataclass(frozen=True)
class Span:
    """A piece of work of one thread, in ms of the trace's clock and of the thread's CPU time."""

    name: str
    at: float
    long: float
    work: float
    event: Mapping[str, Any]

    @property
    def end(self) -> float:
        """Return when it ended."""
        return self.at + self.long


class Trace:
    """A trace as Chromium writes it, by threads."""

    def __init__(self, written: bytes) -> None:
        self.events: list[dict[str, Any]] = json.loads(written)["traceEvents"]
        self.names = {
            (each["pid"], each["tid"]): str(each["args"]["name"])
            for each in self.events
            if each.get("name") == "thread_name"
        }
        self.threads: dict[tuple[int, int], list[Span]] = defaultdict(list)
        for each in self.events:
            if each.get("ph") == "X" and "dur" in each:
                work = each.get("tdur", 0) / 1000
                span = Span(each["name"], each["ts"] / 1000, each["dur"] / 1000, work, each)
                self.threads[each["pid"], each["tid"]].append(span)
        for spans in self.threads.values():
            spans.sort(key=lambda span: (span.at, -span.long))

    def main(self) -> list[Span]:
        """Return the spans of the page's main thread, which is the busiest one of its name."""
        mains = [
            spans for key, spans in self.threads.items() if self.names.get(key) == "CrRendererMain"
        ]
        return max(mains, key=lambda spans: sum(span.work for span in spans), default=[])

    def work(self, start: float = 0.0, stop: float = float("inf")) -> dict[str, float]:
        """Return ms of CPU time by kind, of what began between two times of the trace."""
        found: dict[str, float] = defaultdict(float)
        main = self.main()
        for kind, work in _by_kind(main):
            if start <= kind.at < stop:
                found[_KINDS.get(kind.name, OTHER)] += work
        for key, spans in self.threads.items():
            name = self.names.get(key, "")
            kind_of = next((_THREADS[each] for each in _THREADS if name.startswith(each)), None)
            if spans is main or kind_of is None:
                continue
            found[kind_of] += sum(
                span.work for span in _outermost(spans) if start <= span.at < stop
            )
        return dict(found)


def _outermost(spans: list[Span]) -> Iterator[Span]:
    end = 0.0
    for span in spans:
        if span.at >= end:
            yield span
            end = span.end


def _by_kind(spans: list[Span]) -> Iterator[tuple[Span, float]]:
    """Yield each known span, and each outermost one, with its work without that of known ones."""
    open_: list[tuple[Span, list[float]]] = []
    for span in spans:
        while open_ and span.at >= open_[-1][0].end:
            done, inner = open_.pop()
            yield done, max(0.0, done.work - sum(inner))
        if open_ and span.name not in _KINDS:
            continue
        if open_:
            open_[-1][1].append(span.work)
        open_.append((span, []))
    while open_:
        done, inner = open_.pop()
        yield done, max(0.0, done.work - sum(inner))
