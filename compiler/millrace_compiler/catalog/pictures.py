"""Draws the picture of an operator's page: each input record with its results, line by line.

The picture is SVG for light and dark themes, generated from a recorded example.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from millrace_compiler.catalog.examples import Example, Step
from millrace_compiler.declarations.operator import Operator

WIDTH = 760
_LEFT, _NODE, _NODE_WIDTH, _RIGHT = 60, 320, 132, 480
_CHIP_WIDTH, _LINE, _PAD = 240, 30, 16
_CHARACTER = 7.05  # a monospaced letter of 11.5 pixels

# Hues of the families, light and dark, as in the designer (frontend/src/theme/tokens.css).
HUES = {
    "sources": ("#12907f", "#34b3a0"),
    "stateless": ("#6b7a92", "#8492aa"),
    "aggregations": ("#8657cc", "#a583e6"),
    "joins": ("#4a62c8", "#7b8fee"),
    "tables": ("#ad7a14", "#d0a03c"),
    "processors": ("#c94a77", "#e5779c"),
    "stores": ("#9c6a3c", "#c18f5f"),
    "sinks": ("#2f9150", "#4db873"),
}
_STYLE = """
text {{ font: 11.5px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #1d2026 }}
.words {{ font-family: Inter, ui-sans-serif, system-ui, sans-serif }}
.title {{ font-size: 13px; font-weight: 600 }}
.key {{ font-weight: 650 }}
.muted {{ fill: #626875 }}
.null {{ font-style: italic; fill: #626875 }}
.page {{ fill: #ffffff; stroke: #e3e5ea }}
.chip {{ fill: #f4f5f8; stroke: #dfe2e8 }}
.node {{ fill: #fbfbfd; stroke: #d3d7df }}
.hue {{ fill: {light} }}
.line {{ stroke: #aab1bf; fill: none; stroke-width: 1.5 }}
.head {{ fill: #aab1bf }}
.row {{ stroke: #eef0f4 }}
@media (prefers-color-scheme: dark) {{
  text {{ fill: #e9ebf0 }}
  .muted, .null {{ fill: #9ba2b0 }}
  .page {{ fill: #15171b; stroke: #2a2e36 }}
  .chip {{ fill: #22252c; stroke: #343942 }}
  .node {{ fill: #1b1e24; stroke: #3a404b }}
  .hue {{ fill: {dark} }}
  .line {{ stroke: #5f6776 }}
  .head {{ fill: #5f6776 }}
  .row {{ stroke: #21252c }}
}}
"""


def shown(value: Any) -> str:
    """A key or value as text; a windowed key with its bounds."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        window = value.get("window")
        if isinstance(window, Mapping) and set(value) == {"key", "window"}:
            return f"{shown(value['key'])} {window['start']}–{window['end']}"
        return "{" + ", ".join(f"{name}: {shown(part)}" for name, part in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(map(shown, value)) + "]"
    return str(value)


def described(example: Example) -> str:
    """The picture's text alternative."""
    parts = []
    for step in example.steps:
        given = f"{shown(step.record['key'])} {shown(step.record['value'])}"
        results = (f"{shown(each['key'])} {shown(each['value'])}" for each in step.results)
        parts.append(f"{given} → {' and '.join(results) or 'no output'}")
    return "; ".join(parts)


def picture(cls: type[Operator], example: Example, sentence: str) -> str:
    """The SVG of a kind's example; ``sentence`` describes its node."""
    return _Picture(cls, example, sentence).text()


class _Picture:
    def __init__(self, cls: type[Operator], example: Example, sentence: str) -> None:
        self.cls, self.example, self.sentence = cls, example, sentence
        self.parts: list[str] = []
        self.several = len(example.sources) > 1
        self.targets = len(example.targets) > 1

    def text(self) -> str:
        light, dark = HUES[self.cls.family]
        y = self._heads()
        top = y
        for step in self.example.steps:
            y = self._step(step, y)
        words = textwrap.wrap(self.sentence, 19)
        bottom = max(y, top + 44 + 15 * len(words))
        self._node(top, bottom, words)
        y = self._stores(bottom + 6)
        height = y + 10
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" role="img">'
        )
        title = f"<title>{escape(described(self.example))}</title>"
        style = f"<style>{_STYLE.format(light=light, dark=dark)}</style>"
        page = (
            f'<rect class="page" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>'
        )
        return "\n".join([head, title, style, page, *self.parts, "</svg>", ""])

    def _heads(self) -> int:
        self._words(_LEFT, 26, f"in: {', '.join(self.example.sources)}", "muted words")
        self._words(_RIGHT, 26, f"out: {', '.join(self.example.targets)}", "muted words")
        return 42

    def _step(self, step: Step, y: int) -> int:
        lines = max(1, len(step.results))
        middle = y + _LINE // 2
        if y > 42:
            self.parts.append(
                f'<path class="row" d="M{_PAD} {y}H{_NODE}M{_NODE + _NODE_WIDTH} {y}H'
                f'{WIDTH - _PAD}"/>'
            )
        self._time(_LEFT - 10, middle, step.record, "end")
        end = self._chip(_LEFT, middle, step.record, self.several)
        self._arrow(end + 4, _NODE - 3, middle)
        if not step.results:
            self._words(_RIGHT, middle + 4, "nothing", "null words")
        for place, result in enumerate(step.results):
            at = middle + place * _LINE
            self._arrow(_NODE + _NODE_WIDTH + 2, _RIGHT - 5, at)
            self._chip(_RIGHT, at, result, self.targets)
            self._time(WIDTH - _PAD, at, result, "end")
        return y + lines * _LINE

    def _chip(self, x: int, middle: int, record: Mapping[str, object], topic: bool) -> int:
        key, value = shown(record["key"]), shown(record["value"])
        room = (_CHIP_WIDTH - 20 - (30 if x == _RIGHT else 0)) / _CHARACTER
        name = f"{record['topic']} " if topic else ""
        free = int(room - len(name) - len(key) - 2)
        full = value
        if len(value) > free:
            value = value[: max(free - 1, 1)] + "…"
        length = len(name) + len(key) + 2 + len(value)
        width = round(length * _CHARACTER) + 16
        kind = "null" if record["value"] is None else ""
        spans = f'<tspan class="muted">{escape(name)}</tspan>' if name else ""
        spans += f'<tspan class="key">{escape(key)}</tspan>'
        spans += f'<tspan class="{kind}" dx="{2 * _CHARACTER:.0f}">{escape(value)}</tspan>'
        hover = f"<title>{escape(full)}</title>" if full != value else ""
        self.parts.append(
            f'<g>{hover}<rect class="chip" x="{x}" y="{middle - 12}" width="{width}" height="24" '
            f'rx="6"/><text x="{x + 8}" y="{middle + 4}" xml:space="preserve">{spans}</text></g>'
        )
        return x + width

    def _time(self, x: int, middle: int, record: Mapping[str, object], anchor: str) -> None:
        self.parts.append(
            f'<text class="muted" x="{x}" y="{middle + 4}" text-anchor="{anchor}">'
            f"{record['timestamp']}</text>"
        )

    def _arrow(self, start: int, end: int, y: int) -> None:
        if end - start < 8:
            return
        self.parts.append(f'<path class="line" d="M{start} {y}H{end - 5}"/>')
        self.parts.append(f'<path class="head" d="M{end} {y}l-7 -4v8z"/>')

    def _node(self, top: int, bottom: int, words: Sequence[str]) -> None:
        height = bottom - top
        self.parts.append(
            f'<rect class="node" x="{_NODE}" y="{top}" width="{_NODE_WIDTH}" height="{height}" '
            f'rx="5"/><path class="hue" d="M{_NODE + 5} {top}a5 5 0 0 0 -5 5v{height - 10}'
            'a5 5 0 0 0 5 5z"/>'
        )
        self._words(_NODE + 14, top + 22, self.cls.title, "title words")
        for line, text in enumerate(words):
            self._words(_NODE + 14, top + 42 + 15 * line, text, "muted words")

    def _stores(self, y: int) -> int:
        for name, rows in self.example.stores.items():
            if not rows:
                continue
            self._words(_LEFT, y + 18, f"in the store {name} at the end", "muted words")
            y += 26
            for row in rows:
                self._chip(_LEFT, y + 15, row, False)
                if row["timestamp"] is not None:
                    self._time(_LEFT - 10, y + 15, row, "end")
                y += _LINE
        return y

    def _words(self, x: int, y: int, text: str, kind: str) -> None:
        self.parts.append(f'<text class="{kind}" x="{x}" y="{y}">{escape(text)}</text>')
