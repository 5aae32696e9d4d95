import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { afterEach, expect, test } from "vitest";
import { Segments } from ".";

const ITEMS = [
  { id: "design", title: "Design" },
  { id: "plan", title: "Plan", disabled: true },
  { id: "runtime", title: "Runtime" },
] as const;

function Layers() {
  const [layer, setLayer] = useState<(typeof ITEMS)[number]["id"]>("design");
  return <Segments label="Layer" items={ITEMS} value={layer} onChange={setLayer} />;
}

afterEach(cleanup);

test("Tab reaches the chosen segment, arrows choose another that can be", async () => {
  render(<Layers />);
  await userEvent.tab();
  expect(document.activeElement).toBe(screen.getByRole("radio", { name: "Design" }));
  await userEvent.keyboard("{ArrowRight}");
  const runtime = screen.getByRole("radio", { name: "Runtime", checked: true });
  expect(document.activeElement).toBe(runtime);
  await userEvent.keyboard("{ArrowRight}");
  expect(screen.getByRole("radio", { name: "Design", checked: true })).toBe(document.activeElement);
});
