"""Drives the designer as a person does, with pointer and keyboard only."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, Response, expect


def _saves_a_version(answer: Response) -> bool:
    return answer.request.method == "POST" and answer.url.endswith("/versions")


class Designer:
    """The designer with one open topology."""

    def __init__(self, page: Page) -> None:
        self.page = page
        expect(page.locator(".react-flow")).to_be_visible(timeout=30_000)

    # -- canvas -----------------------------------------------------------------------------------
    def node(self, node: str) -> Locator:
        """A node by its id."""
        return self.page.locator(f'.react-flow__node[data-id="{node}"]')

    def nodes(self) -> list[str]:
        """The ids of all nodes."""
        found = self.page.locator(".react-flow__node[data-id]").evaluate_all(
            "nodes => nodes.map(node => node.dataset.id)"
        )
        return [str(each) for each in found]

    def drag(self, kind: str, x: float, y: float) -> str:
        """Drag a palette entry to (x, y) of the canvas, in pixels; return the new node's id."""
        before = set(self.nodes())
        entry = self.page.locator(f'[data-kind="{kind}"]')
        entry.scroll_into_view_if_needed()
        canvas = self.page.locator(".react-flow")
        entry.drag_to(canvas, target_position={"x": x, "y": y})
        expect(self.page.locator(".react-flow__node[data-id]")).to_have_count(len(before) + 1)
        (made,) = set(self.nodes()) - before
        return made

    def _port(self, node: str, port: str, side: str) -> Locator:
        return self.page.locator(
            f'.react-flow__handle[data-nodeid="{node}"][data-handleid="{port}"][data-side="{side}"]'
        )

    def wire(self, source: str, target: str, port: str = "in", side: str = "input") -> None:
        """Pull a wire from an output to an input."""
        edges = self.page.locator(".react-flow__edge")
        before = edges.count()
        # The single port of a store connects upwards to the node that uses it.
        start = middle(self._port(source, "out", "store" if side == "store" else "output"))
        end = middle(self._port(target, port, side))
        mouse = self.page.mouse
        mouse.move(*start)
        mouse.down()
        mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2, steps=6)
        mouse.move(*end, steps=6)
        mouse.up()
        expect(edges).to_have_count(before + 1)

    def select(self, node: str) -> None:
        """Click a node; its form opens."""
        self.node(node).click(position={"x": 60, "y": 14})
        expect(self.page.locator(".inspector-body")).to_be_visible()

    def select_edge(self, source: str, target: str) -> None:
        """Click the edge between two nodes, a third of its way from the source."""
        path = self.page.locator(f'[data-wire^="{source}."][data-wire*=">{target}."] path').first
        x, y = path.evaluate(
            """path => {
                const at = path.getPointAtLength(path.getTotalLength() / 3);
                const shown = at.matrixTransform(path.getScreenCTM());
                return [shown.x, shown.y];
            }"""
        )
        self.page.mouse.click(x, y)

    def command(self, name: str) -> None:
        """Run the first command that matches in the command palette."""
        self.page.keyboard.press("Control+k")
        field = self.page.get_by_role("combobox", name="Commands")
        field.fill(name)
        field.press("Enter")
        expect(field).to_have_count(0)

    # -- inspector --------------------------------------------------------------------------------
    def field(self, parameter: str) -> Locator:
        """The field of a parameter of the selected node."""
        return self.page.locator(f'.inspector-body [data-parameter="{parameter}"]')

    def name(self, label: str) -> None:
        """Label the selected node."""
        box = self.field("label").locator("input")
        box.fill(label)
        box.press("Enter")

    def choose_topic(self, parameter: str, topic: str) -> None:
        """Type a topic's name."""
        box = self.field(parameter).locator("input:not([type=hidden])").last
        box.click()
        self.page.keyboard.type(topic)
        self.page.keyboard.press("Enter")
        self.page.keyboard.press("Tab")

    def choose(self, parameter: str, option: str) -> None:
        """Choose from a list; the first one if the parameter has several."""
        box = self.field(parameter).locator("input.mantine-Select-input").first
        listed = self.page.get_by_role("option", name=option, exact=True)
        box.click()
        listed.click()

    def write(self, parameter: str, text: str) -> None:
        """Replace the text of an expression."""
        editor = self.field(parameter).locator(".cm-content")
        editor.click()
        self.page.keyboard.press("ControlOrMeta+A")
        self.page.keyboard.insert_text(text)
        # A click elsewhere closes the suggestions.
        self.page.locator(".inspector-facts").first.click()

    # -- panels -----------------------------------------------------------------------------------
    def open_panel(self, title: str) -> None:
        """Open a tab of the panel under the canvas."""
        tab = self.page.get_by_role("tab", name=title)
        if tab.get_attribute("aria-selected") != "true":
            tab.click()

    def add_inputs(self, way: str) -> None:
        """Choose from the menu *Add* of the inputs of the simulation."""
        self.page.get_by_test_id("add-inputs").click()
        self.page.get_by_role("menuitem", name=way).click()

    def option(self, name: str) -> None:
        """Choose from the options of the simulation."""
        self.page.get_by_test_id("simulation-options").click()
        self.page.locator("[role^=menuitem]", has_text=name).click()

    def save(self, message: str) -> None:
        """Save a version with a message."""
        self.page.get_by_test_id("save").click()
        self.page.get_by_test_id("version-message").fill(message)
        # A saved draft looks alike, also while the version is being saved.
        with self.page.expect_response(_saves_a_version):
            self.page.get_by_test_id("save-version").click()
        expect(self.page.get_by_test_id("saved-state")).to_contain_text("saved")
        expect(self.page.get_by_test_id("save")).to_be_disabled()

    # -- deployment -------------------------------------------------------------------------------
    def expect_state(self, state: str, seconds: float) -> None:
        """Wait until the deployment shows this state."""
        pill = self.page.get_by_test_id("deployment-pill").get_by_test_id("deployment-state")
        expect(pill).to_have_attribute("data-state", state, timeout=seconds * 1000)

    def open_deployment(self) -> None:
        """Open the deployment window with steps, run and actions."""
        if not self.page.get_by_test_id("deployment-steps").is_visible():
            self.page.get_by_test_id("deployment-pill").click()
        expect(self.page.get_by_test_id("deployment-steps")).to_be_visible()

    def close_deployment(self) -> None:
        """Close the deployment window."""
        if self.page.get_by_test_id("deployment-steps").is_visible():
            self.page.keyboard.press("Escape")
            expect(self.page.get_by_test_id("deployment-steps")).to_have_count(0)

    def driver(self) -> int:
        """Return the driver's process id as the page shows it."""
        self.open_deployment()
        shown = self.page.get_by_test_id("driver-pid")
        expect(shown).to_contain_text("process")
        return int(shown.inner_text().split("process")[1].split()[0])


def middle(element: Locator) -> tuple[float, float]:
    """Return the middle of an element in the window."""
    box = element.bounding_box()
    assert box is not None, "the element is not in view"
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
