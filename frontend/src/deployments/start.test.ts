import { expect, it } from "vitest";
import { aDeployment, aRun } from "../testing/samples";
import { beginsAnew, startOf, withStart } from "./start";

it("says that each source decides where nothing was chosen", () => {
  expect(startOf({})).toBe("source");
  expect(withStart({ cores: 2 }, "latest")).toEqual({ cores: 2, start: "latest" });
  expect(withStart({ cores: 2, start: "latest" }, "source")).toEqual({ cores: 2 });
});

it("offers no place to start from where a checkpoint says it", () => {
  expect(beginsAnew(null)).toBe(true);
  expect(beginsAnew(aDeployment({ run: null, has_checkpoint: false }))).toBe(true);
  expect(beginsAnew(aDeployment({ run: null, has_checkpoint: true }))).toBe(false);
  expect(beginsAnew(aDeployment({ run: aRun(), has_checkpoint: false }))).toBe(false);
});
