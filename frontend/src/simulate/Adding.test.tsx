import { MantineProvider } from "@mantine/core";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, expect, test, vi } from "vitest";
import { useDesigner } from "../designer/store";
import { theme } from "../theme/theme";
import { GenerateDialog } from "./Adding";
import { useSimulation } from "./store";

vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);

const text = { format: "string" };
const DOCUMENT = {
  format: "millrace.topology/1" as const,
  name: "test",
  nodes: [{ id: "in", kind: "source.stream", params: { topics: ["in"], key: text, value: text } }],
  edges: [],
};

afterEach(() => useSimulation.setState({ rows: [] }));

function field(label: string): HTMLInputElement {
  const found = [...document.querySelectorAll("label")].find((each) => each.textContent === label);
  return document.getElementById(found?.htmlFor ?? "") as HTMLInputElement;
}

async function type(label: string, typed: string) {
  const input = field(label);
  const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set;
  await act(async () => {
    set?.call(input, typed);
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

test("records are generated as far apart as the duration says, and no other text is taken", async () => {
  useDesigner.setState({ document: DOCUMENT as never });
  const place = document.createElement("div");
  document.body.append(place);
  const root = createRoot(place);
  await act(async () =>
    root.render(
      <MantineProvider theme={theme} env="test">
        <GenerateDialog onClose={() => undefined} />
      </MantineProvider>,
    ),
  );
  const add = () =>
    [...document.querySelectorAll("button")].find((each) => each.textContent === "Add records");
  await type("One every", "soon");
  expect(add()?.disabled).toBe(true);
  expect(document.body.textContent).toContain("A duration such as 5 minutes");
  await type("One every", "1 h");
  await type("Late (%)", "0");
  await type("Records", "30");
  await act(async () => add()?.click());
  const times = useSimulation.getState().rows.map((row) => Number(row.timestamp));
  expect(times).toHaveLength(30);
  const [first = 0] = times;
  // An hour on average, each a little more or less.
  expect(((times.at(-1) ?? 0) - first) / 29).toBeGreaterThan(1_800_000);
  await act(async () => root.unmount());
  place.remove();
});
