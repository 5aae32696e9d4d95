import { expect, test } from "vitest";
import type { Session } from "../api/types";
import { forgetEnd, hasEnded, may, noteEnd } from "./session";

const SIGNED_IN = {
  user: { id: 1, username: "ada", display_name: "Ada" },
  workspaces: [],
} as unknown as Session;

test("an expired session is reported until the next sign-in", () => {
  noteEnd(undefined);
  noteEnd({ ...SIGNED_IN, user: null });
  expect(hasEnded()).toBe(false);
  noteEnd(SIGNED_IN);
  expect(hasEnded()).toBe(true);
  forgetEnd();
  expect(hasEnded()).toBe(false);
});

test("each role can do all that the ones below it can", () => {
  expect(may("operator", "editor")).toBe(true);
  expect(may("viewer", "editor")).toBe(false);
  expect(may(undefined, "viewer")).toBe(false);
});
