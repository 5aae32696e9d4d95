import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { useRuntime } from "../designer/runtime";
import { useDesigner } from "../designer/store";
import { VersionNote } from "./VersionNote";

afterEach(cleanup);

test("each difference from the running version begins with a capital letter", () => {
  useDesigner.setState({ layer: "runtime" });
  useRuntime.getState().setRunning({
    version: 3,
    changed: { a: { label: "A", summary: null } },
    drawnOnly: new Set(["b"]),
    runningOnly: ["c"],
  });
  render(<VersionNote />);
  expect(screen.getByTestId("running-version").textContent).toMatch(
    /which is running\. Different here: A · Only here: b · Only in the version: c$/,
  );
});
