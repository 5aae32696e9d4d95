"""Draws a topology: its nodes from left to right, as SVG for light and dark themes."""

from __future__ import annotations

from html import escape

from millrace_model.documents import DocumentNode, TopologyDocument

from millrace_compiler.catalog.pictures import HUES
from millrace_compiler.declarations.operator import registry

_WIDTH, _HEIGHT, _GAP_X, _GAP_Y, _PAD = 150, 48, 26, 18, 12
_LETTERS = 19  # of a line in a node
_STYLE = """
text {{ font: 600 12px Inter, ui-sans-serif, system-ui, sans-serif; fill: #1d2026 }}
.muted {{ font-weight: 400; font-size: 11.5px; fill: #626875 }}
.page {{ fill: #ffffff; stroke: #e3e5ea }}
.node {{ fill: #fbfbfd; stroke: #d3d7df }}
.line {{ stroke: #aab1bf; fill: none; stroke-width: 1.5 }}
.store {{ stroke-dasharray: 3 3 }}
{light}
@media (prefers-color-scheme: dark) {{
  text {{ fill: #e9ebf0 }}
  .muted {{ fill: #9ba2b0 }}
  .page {{ fill: #15171b; stroke: #2a2e36 }}
  .node {{ fill: #1b1e24; stroke: #3a404b }}
  .line {{ stroke: #5f6776 }}
  {dark}
}}
"""


def drawing(document: TopologyDocument) -> str:
    """Return the SVG of a valid topology document."""
    nodes = {node["id"]: node for node in document["nodes"]}
    edges = [
        (edge["source"], edge["target"], edge.get("target_port")) for edge in document["edges"]
    ]
    places = _places(list(nodes), [(source, target) for source, target, _ in edges])
    width = 2 * _PAD + (max(x for x, _ in places.values()) + 1) * (_WIDTH + _GAP_X) - _GAP_X
    height = 2 * _PAD + (max(y for _, y in places.values()) + 1) * (_HEIGHT + _GAP_Y) - _GAP_Y
    corners = {
        node: (_PAD + x * (_WIDTH + _GAP_X), _PAD + y * (_HEIGHT + _GAP_Y))
        for node, (x, y) in places.items()
    }
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img">',
        f"<title>{escape(str(document['name']))}</title>",
        f"<style>{_STYLE.format(light=_hues(0), dark=_hues(1))}</style>",
        f'<rect class="page" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>',
    ]
    parts += [_edge(corners[a], corners[b], port == "store") for a, b, port in edges]
    parts += [_node(nodes[name], *corner) for name, corner in corners.items()]
    return "\n".join([*parts, "</svg>", ""])


def _places(nodes: list[str], edges: list[tuple[str, str]]) -> dict[str, tuple[int, int]]:
    """Column and row of each node; it is right of all nodes before it, and stores are as near."""
    column = dict.fromkeys(nodes, 0)
    for _ in nodes:
        for source, target in edges:
            column[target] = max(column[target], column[source] + 1)
    for source in nodes:
        targets = [target for each, target in edges if each == source]
        if targets and source not in {target for _, target in edges}:
            column[source] = min(column[each] for each in targets) - 1
    rows: dict[int, int] = {}
    places = {}
    for node in nodes:
        row = rows.get(column[node], 0)
        places[node] = (column[node], row)
        rows[column[node]] = row + 1
    return places


def _edge(start: tuple[int, int], end: tuple[int, int], store: bool) -> str:
    x, y = start[0] + _WIDTH, start[1] + _HEIGHT // 2
    to_x, to_y = end[0], end[1] + _HEIGHT // 2
    bend = (to_x - x) // 2
    kind = "line store" if store else "line"
    return f'<path class="{kind}" d="M{x} {y}C{x + bend} {y} {to_x - bend} {to_y} {to_x} {to_y}"/>'


def _node(node: DocumentNode, x: int, y: int) -> str:
    cls = registry()[node["kind"]]
    title = str(node.get("label") or cls.title)
    below = _below(node) or (cls.title if node.get("label") else "")
    return (
        f"<g><title>{escape(node['kind'])}</title>"
        f'<rect class="node" x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="5"/>'
        f'<rect class="{cls.family}" x="{x}" y="{y}" width="4" height="{_HEIGHT}" rx="2"/>'
        f'<text x="{x + 14}" y="{y + 20}">{escape(_short(title))}</text>'
        f'<text class="muted" x="{x + 14}" y="{y + 37}">{escape(_short(below))}</text></g>'
    )


def _below(node: DocumentNode) -> str:
    """Topics of sources and sinks, names of stores, classes; otherwise nothing."""
    params = node.get("params", {})
    topics = ", ".join(params.get("topics") or [])
    names = ("topic", "topic_expression", "name", "class_name", "predicate")
    return topics or next((str(params[name]) for name in names if params.get(name)), "")


def _short(text: str) -> str:
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…"


def _hues(theme: int) -> str:
    return " ".join(f".{family} {{ fill: {hues[theme]} }}" for family, hues in HUES.items())
