import { MantineProvider } from "@mantine/core";
import { act, fireEvent, render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { useHelp } from "../commands/help";
import { CATALOG, editor } from "../commands/kit";
import { theme } from "../theme/theme";
import { HelpDialog } from "./HelpDialog";
import { searchHelp } from "./topics";

const ids = (query: string) => searchHelp(CATALOG, query).map((topic) => topic.id);

test("operators, functions, formats and methods of processors are found together", () => {
  expect(ids("dedupe").length).toBeGreaterThan(0);
  expect(ids("split_part")[0]).toBe("function split_part");
  expect(ids("schedule")).toContain("processor ProcessorContext.schedule");
  expect(ids("avro")).toContain("format avro");
  expect(ids("suppress")[0]).toBe("suppress");
  expect(ids("")).toContain("count");
  expect(ids("qqqqqq")).toEqual([]);
});

test("F1 explains the selected node, and the help adds an operator", async () => {
  const drawn = editor();
  const filter = drawn.drop("filter", { at: { x: 0, y: 0 } });
  drawn.select(filter);
  await drawn.run("help");
  expect(useHelp.getState().asked).toBe("Filter");
  const show = () => {
    useHelp.setState({ asked: "count" });
    render(
      <MantineProvider theme={theme} env="test">
        <HelpDialog />
      </MantineProvider>,
    );
  };
  show();
  const text = screen.getByTestId("help-text");
  expect(text.textContent).toContain("window");
  const search = screen.getByRole("textbox");
  fireEvent.change(search, { target: { value: "split_part" } });
  expect(text.textContent).toContain("split_part(");
  fireEvent.change(search, { target: { value: "count" } });
  await act(async () => fireEvent.click(screen.getByRole("button", { name: "Add Count" })));
  expect(drawn.document().nodes.map((node) => node.kind)).toEqual(["filter", "count"]);
  expect(useHelp.getState().asked).toBeNull();
});
