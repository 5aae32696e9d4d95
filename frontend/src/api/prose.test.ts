// @vitest-environment happy-dom
import { afterEach, expect, test } from "vitest";
import { fetchTexts, setLanguage } from "../ui/i18n";
import { describeDiagnostic } from "./prose";
import type { Diagnostic } from "./types";

const MISSING = {
  code: "input_missing",
  message: "Nothing is connected to the input “left”.",
  hint: "Connect a node to it.",
  facts: { port: "left" },
} as unknown as Diagnostic;

afterEach(() => setLanguage("en"));

test("a diagnostic is described in the page's language, with its facts; in English without a translation", async () => {
  expect(describeDiagnostic(MISSING)).toEqual({ message: MISSING.message, hint: MISSING.hint });
  await fetchTexts("zh");
  setLanguage("zh");
  expect(describeDiagnostic(MISSING)).toEqual({
    message: "输入“left”没有连接任何节点。",
    hint: "请将一个节点连接到它。",
  });
  const other = { ...MISSING, code: "no_such_code" };
  expect(describeDiagnostic(other).message).toBe(MISSING.message);
  const dropped = { ...MISSING, code: "plain_drops", facts: { what: "a null key" } };
  expect(describeDiagnostic(dropped).message).toBe(
    "键为 null 的记录被丢弃而不计数；Kafka Streams 会计数。",
  );
});
