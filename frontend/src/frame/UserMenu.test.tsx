import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { commandContext } from "../commands/command";
import { useGuides } from "../commands/guides";
import { commandById } from "../commands/registry";
import { open } from "../testing/rendering";
import { UserMenu } from "./UserMenu";

vi.mock("./session", async (original) => ({
  ...(await original<typeof import("./session")>()),
  useSession: () => ({ data: { user: { username: "ada", display_name: "Ada" } } }),
}));

afterEach(() => {
  cleanup();
  useGuides.setState({ step: null });
});

test("the tour starts again from the help of the account's menu", async () => {
  const tour = commandById("tour");
  if (tour === undefined) throw new Error("There is no tour.");
  const run = () => void tour.run(commandContext());
  open(<UserMenu ws="main" help={[{ id: "tour", title: tour.title(), run }]} />);
  fireEvent.click(screen.getByTestId("user-menu"));
  expect(await screen.findByText("Help")).toBeTruthy();
  fireEvent.click(screen.getByTestId("help-tour"));
  expect(useGuides.getState().step).toBe(0);
});

test("a page without help has no such part in the menu", async () => {
  open(<UserMenu ws="main" />);
  fireEvent.click(screen.getByTestId("user-menu"));
  expect(await screen.findByText("Settings")).toBeTruthy();
  expect(screen.queryByText("Help")).toBeNull();
});
