"""How fast the designer opens, and its frames during pan, zoom and drag, with live figures.

    ./millrace bench page -- --nodes 500
    ./millrace bench page -- --nodes 500 --bends
    ./millrace bench page -- --nodes 2000 --trace .millrace/page-trace.json

Runs the built page in a real Chromium without a screen, whose pictures the processor paints, with a
generated topology and figures ten times a second. Prints, for each gesture, the frames per second,
the 95th percentile of the time between two frames and the longest, and the milliseconds of each
frame for which the page's main thread was busy: in all, in scripts, and in styles and layout. These
are CPU time: below 16, a screen of 60 Hz misses no frame on an idle machine. `--threads` prints,
from a second round with a trace, what all threads do for a frame: on the main thread scripts,
styles and layout, and paint; on others raster and compositing, which a graphics processor would
do. `--trace` keeps a trace of all gestures for Chromium's own tools. `--limit` fails if a gesture
needs more.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page, ViewportSize, sync_playwright

from bench._page_server import page_server
from bench._page_trace import CATEGORIES, KINDS, Trace
from checks import chromium
from launcher import node

STEPS = 90
SIZE: ViewportSize = {"width": 1440, "height": 900}
OPENINGS = 5
#: collects the times of all frames while a gesture lasts
RECORD = """() => {
  const times = [];
  window.__frames = times;
  const note = (now) => { times.push(now); window.__frame = requestAnimationFrame(note); };
  window.__frame = requestAnimationFrame(note);
}"""
COLLECT = "() => { cancelAnimationFrame(window.__frame); return window.__frames; }"
#: notes when the first frame with nodes has been drawn
OPENED = """
const look = (now) => {
  const shown = document.querySelector(".react-flow__node .node-label");
  const drawn = shown !== null && getComputedStyle(shown).visibility === "visible";
  if (drawn) requestAnimationFrame((next) => { window.__opened = next; });
  else requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""
#: when the phases of an opening ended
PHASES = """() => {
  const until = (part) => Math.max(0, ...performance.getEntriesByType("resource")
    .filter(({ name, startTime }) => part.test(name) && startTime < window.__opened)
    .map(({ responseEnd }) => responseEnd));
  return {
    "first script": until(/assets\\/index-[^/]*\\.js/),
    session: until(/api\\/session/),
    "designer's files": until(/assets\\/(TopologyPage|shared|state)-/),
    "document and catalog": until(/api\\/(topologies|catalog)/),
    drawn: window.__opened,
  };
}"""
#: Chromium's measurements of the main thread, in seconds
BUSY, SCRIPT, STYLE, LAYOUT = (
    "TaskDuration",
    "ScriptDuration",
    "RecalcStyleDuration",
    "LayoutDuration",
)


@dataclass(frozen=True)
class Measured:
    """The measurements of one gesture."""

    name: str
    #: milliseconds between two frames, in their order
    gaps: list[float]
    #: milliseconds per frame for which the main thread was busy, in all and with two kinds of work
    work: float
    scripts: float
    layout: float

    @property
    def per_second(self) -> float:
        """Return frames per second."""
        return 1000 * len(self.gaps) / sum(self.gaps)

    @property
    def slow(self) -> float:
        """Return the 95th percentile of the milliseconds between two frames."""
        return statistics.quantiles(self.gaps, n=20)[-1]


def measure(page: Page, session: CDPSession, name: str, gesture: Callable[[], None]) -> Measured:
    """Perform a gesture and measure the page's frames and work during it."""
    page.evaluate(RECORD)
    before = _busy(session)
    gesture()
    after = _busy(session)
    times: list[float] = page.evaluate(COLLECT)
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    spent = {each: 1000 * (after[each] - before[each]) / max(1, len(gaps)) for each in after}
    return Measured(name, gaps, spent[BUSY], spent[SCRIPT], spent[STYLE] + spent[LAYOUT])


def _busy(session: CDPSession) -> dict[str, float]:
    found: dict[str, Any] = session.send("Performance.getMetrics")
    return {each["name"]: float(each["value"]) for each in found["metrics"]}


def gestures(page: Page) -> dict[str, Callable[[], None]]:
    """Return the gestures in the order in which they are measured."""
    canvas = page.locator(".react-flow").bounding_box()
    assert canvas is not None
    middle = (canvas["x"] + canvas["width"] / 2, canvas["y"] + canvas["height"] / 2)
    mouse = page.mouse

    def pan() -> None:
        mouse.move(middle[0], canvas["y"] + 14)
        mouse.down()
        for step in range(STEPS):
            mouse.move(middle[0] + (step % 30) * 6, canvas["y"] + 14 + (step % 20) * 8)
        mouse.up()

    def zoom() -> None:
        mouse.move(*middle)
        for step in range(STEPS):
            mouse.wheel(0, -60 if step % 30 < 15 else 60)

    def drag() -> None:
        box = page.locator(".react-flow__node").nth(3).bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        mouse.move(x, y)
        mouse.down()
        for step in range(STEPS):
            mouse.move(x + (step % 30) * 4, y + (step % 20) * 4)
        mouse.up()

    def watch() -> None:
        mouse.move(canvas["x"] + 4, canvas["y"] + 4)
        page.wait_for_timeout(3_000)

    return {"watch": watch, "pan": pan, "zoom": zoom, "drag": drag}


def opened(browser: Browser, address: str) -> list[dict[str, float]]:
    """Return the milliseconds of the phases of openings: with an empty cache, then again and again.

    The last phase ends when nodes are drawn; `cpu` is the CPU time of the main thread until then.
    """
    found = []
    page = browser.new_page(viewport=SIZE)
    page.add_init_script(OPENED)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    for _ in range(OPENINGS):
        before = _busy(session)[BUSY]
        page.goto(address, wait_until="commit")
        page.wait_for_function("window.__opened !== undefined", timeout=60_000)
        after = _busy(session)[BUSY]
        # A new process counts from zero.
        cpu = 1000 * (after - before if after > before else after)
        found.append({**page.evaluate(PHASES), "cpu": cpu})
        page.wait_for_timeout(1_000)
    page.close()
    return found


@dataclass(frozen=True)
class Traced:
    """What threads did for one gesture: milliseconds of CPU time per frame, by kind of work."""

    name: str
    frames: int
    work: dict[str, float]


def traced(browser: Browser, page: Page, name: str, gesture: Callable[[], None]) -> Traced:
    """Perform a gesture with a trace."""
    browser.start_tracing(page=page, categories=CATEGORIES)
    page.evaluate(RECORD)
    gesture()
    frames = len(page.evaluate(COLLECT))
    work = Trace(browser.stop_tracing()).work()
    return Traced(name, frames, {kind: ms / max(1, frames) for kind, ms in work.items()})


def moved(
    browser: Browser, address: str, *, threads: bool = False
) -> tuple[list[Measured], list[Traced]]:
    """Measure all gestures: as it opens and with all nodes in view, designing and running.

    `threads`: once more, with a trace of all threads.
    """
    measured: list[Measured] = []
    seen: list[Traced] = []
    page = browser.new_page(viewport=SIZE)
    page.goto(address)
    page.locator(".react-flow__node").first.wait_for(timeout=60_000)
    page.wait_for_timeout(1_500)
    session = page.context.new_cdp_session(page)
    # CPU time instead of wall-clock time: other work on the machine does not count.
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    for view in ("part", "all"):
        if view == "all":
            page.locator(".canvas").press("1")
        for layer in ("Design", "Runtime"):
            page.get_by_role("radio", name=layer).click()
            page.wait_for_timeout(1_500)
            for name, gesture in gestures(page).items():
                row = f"{view}, {layer.lower()}: {name}"
                measured.append(measure(page, session, row, gesture))
            for name, gesture in gestures(page).items() if threads else ():
                seen.append(traced(browser, page, f"{view}, {layer.lower()}: {name}", gesture))
    page.close()
    return measured, seen


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--nodes", type=int, default=500)
    parser.add_argument("--bends", action="store_true", help="bend each edge twice")
    parser.add_argument("--limit", type=float, default=0.0, help="milliseconds per frame")
    parser.add_argument("--threads", action="store_true", help="what all threads do")
    parser.add_argument("--trace", type=Path, help="keep a trace of all gestures in this file")
    options = parser.parse_args()
    node.ensure_packages()
    node.build_page()
    found = chromium.find()
    if found is None:
        raise SystemExit("Chromium was not found. Set MILLRACE_CHROMIUM to its path.")
    with page_server(options.nodes, bent=options.bends) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        openings = opened(browser, address)
        if options.trace is not None:
            browser.start_tracing(path=options.trace)
        measured, seen = moved(browser, address, threads=options.threads)
        if options.trace is not None:
            browser.stop_tracing()
        browser.close()
    show(options.nodes, openings, measured)
    if seen:
        show_threads(seen)
    over = [each for each in measured if options.limit and each.work > options.limit]
    for each in over:
        print(f"{each.name} needs {each.work:.1f} ms of a frame, more than {options.limit:g}")
    return 1 if over else 0


def show(nodes: int, openings: list[dict[str, float]], measured: list[Measured]) -> None:
    """Print the tables."""
    print(f"{nodes} nodes, figures ten times a second, load {os.getloadavg()[0]:.1f}")
    first, *again = openings
    print(f"{'opened: ms until …':<24}{'first':>10}{'again':>16}")
    for phase, until in first.items():
        times = [each[phase] for each in again]
        print(f"{phase:<24}{until:>10.0f}{f'{min(times):.0f} to {max(times):.0f}':>16}")
    print(
        f"{'':<24}{'frames/s':>10}{'p95 ms':>9}{'longest':>9}"
        f"{'busy ms/frame':>15}{'scripts':>9}{'layout':>9}"
    )
    for each in measured:
        print(
            f"{each.name:<24}{each.per_second:>10.1f}{each.slow:>9.1f}{max(each.gaps):>9.1f}"
            f"{each.work:>15.2f}{each.scripts:>9.2f}{each.layout:>9.2f}"
        )


def show_threads(seen: list[Traced]) -> None:
    """Print the table of threads."""
    print(f"{'CPU ms/frame':<24}" + "".join(f"{kind:>18}" for kind in KINDS))
    for each in seen:
        cells = "".join(f"{each.work.get(kind, 0.0):>18.2f}" for kind in KINDS)
        print(f"{each.name:<24}{cells}")


if __name__ == "__main__":
    sys.exit(main())
