"""Frames per second of the designer during pan, zoom and drag, with live figures.

    ./millrace bench page -- --nodes 500

Runs the built page in a real Chromium, with a generated topology and figures every second. Prints,
for each gesture, the frames per second, the longest frame, and the milliseconds of each frame for
which the page's main thread was busy. The last is CPU time: below 16, a screen of 60 Hz misses no
frame on an idle machine. `--limit` fails if a gesture needs more.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import CDPSession, Page, sync_playwright

from bench._page_server import page_server
from checks import chromium
from launcher import node

STEPS = 90
#: collects the times of all frames while a gesture lasts
RECORD = """() => {
  const times = [];
  window.__frames = times;
  const note = (now) => { times.push(now); window.__frame = requestAnimationFrame(note); };
  window.__frame = requestAnimationFrame(note);
}"""
COLLECT = "() => { cancelAnimationFrame(window.__frame); return window.__frames; }"


@dataclass(frozen=True)
class Measured:
    """The measurements of one gesture."""

    name: str
    frames: int
    per_second: float
    #: milliseconds
    longest: float
    #: milliseconds per frame for which the main thread was busy
    work: float


def measure(page: Page, session: CDPSession, name: str, gesture: Callable[[], None]) -> Measured:
    """Perform a gesture and measure the page's frames and work during it."""
    page.evaluate(RECORD)
    before = _work(session)
    gesture()
    after = _work(session)
    times: list[float] = page.evaluate(COLLECT)
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    seconds = (times[-1] - times[0]) / 1000
    return Measured(
        name,
        len(gaps),
        len(gaps) / seconds,
        max(gaps),
        1000 * (after - before) / max(1, len(gaps)),
    )


def _work(session: CDPSession) -> float:
    found: dict[str, Any] = session.send("Performance.getMetrics")
    metrics = {each["name"]: float(each["value"]) for each in found["metrics"]}
    return metrics["TaskDuration"]


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


def run(nodes: int) -> list[Measured]:
    """Measure all gestures, in the design layer and with live figures."""
    found = chromium.find()
    if found is None:
        raise SystemExit("Chromium was not found. Set MILLRACE_CHROMIUM to its path.")
    measured: list[Measured] = []
    with page_server(nodes) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(address)
        page.locator(".react-flow__node").first.wait_for(timeout=60_000)
        page.wait_for_timeout(1_500)
        session = page.context.new_cdp_session(page)
        # CPU time instead of wall-clock time: other work on the machine does not count.
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        for layer in ("Design", "Runtime"):
            page.get_by_role("radio", name=layer).click()
            page.wait_for_timeout(1_500)
            for name, gesture in gestures(page).items():
                measured.append(measure(page, session, f"{layer.lower()}: {name}", gesture))
        browser.close()
    return measured


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--nodes", type=int, default=500)
    parser.add_argument("--limit", type=float, default=0.0, help="milliseconds per frame")
    options = parser.parse_args()
    node.ensure_packages()
    node.build_page()
    measured = run(options.nodes)
    print(f"{options.nodes} nodes")
    print(f"{'':<16}{'frames/s':>10}{'longest ms':>12}{'work ms/frame':>15}")
    for each in measured:
        print(f"{each.name:<16}{each.per_second:>10.1f}{each.longest:>12.1f}{each.work:>15.2f}")
    over = [each for each in measured if options.limit and each.work > options.limit]
    for each in over:
        print(f"{each.name} needs {each.work:.1f} ms of a frame, more than {options.limit:g}")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
