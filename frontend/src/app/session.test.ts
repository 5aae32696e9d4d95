import { expect, test } from "vitest";
import type { Session } from "../api/types";
import { forgetEnd, hasEnded, may, noteEnd } from "./session";

const SOMEBODY = {
  user: { id: 1, username: "ada", display_name: "Ada" },
  workspaces: [],
} as unknown as Session;

test("a session that ran out under somebody's hands is told, until they sign in again", () => {
  noteEnd(undefined);
  noteEnd({ ...SOMEBODY, user: null });
  expect(hasEnded()).toBe(false);
  noteEnd(SOMEBODY);
  expect(hasEnded()).toBe(true);
  forgetEnd();
  expect(hasEnded()).toBe(false);
});

test("each role can do all that the ones below it can", () => {
  expect(may("operator", "editor")).toBe(true);
  expect(may("viewer", "editor")).toBe(false);
  expect(may(undefined, "viewer")).toBe(false);
});
