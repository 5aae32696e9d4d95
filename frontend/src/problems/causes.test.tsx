import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { Failure } from "../api/types";
import { open } from "../app/rendering";
import { FailureNote } from "../deployments/FailureNote";
import { OutageNote } from "../deployments/OutageNote";
import { fetchTexts, setLanguage } from "../ui/i18n";
import { type Cause, toldCause } from "./prose";

const SILENT: Cause = {
  code: "driver_silent",
  facts: { seconds: "90" },
  message: "The driver has not reported for 90 s.",
};

afterEach(() => {
  cleanup();
  setLanguage("en");
});

async function inChinese(cause: Cause): Promise<string> {
  await fetchTexts("zh");
  setLanguage("zh");
  return toldCause(cause);
}

test("a cause is told in the language of the page", async () => {
  expect(toldCause(SILENT)).toBe(SILENT.message);
  expect(await inChinese(SILENT)).toBe("驱动程序已 90 秒没有报告。");
});

test("what comes from outside stays as it is, after a sentence", async () => {
  const message = "java.lang.ArithmeticException: / by zero";
  expect(await inChinese({ code: "processing", message })).toBe(`处理记录时出错：${message}`);
  expect(await inChinese({ code: "of_a_newer_server", message })).toBe(`原因：${message}`);
});

test("a cause without the facts of its sentence, as of an earlier version, keeps its message", async () => {
  expect(await inChinese({ ...SILENT, facts: {} })).toBe(`原因：${SILENT.message}`);
  const { facts: _, ...old } = SILENT;
  expect(await inChinese(old)).toBe(`原因：${SILENT.message}`);
});

test("a cause quotes the one behind it in the same language", async () => {
  const facts = { version: "3", before: "2" };
  const message = "Version 3 ended before its first batch: …";
  expect(await inChinese({ code: "fell_back", facts, message, cause: SILENT })).toBe(
    "版本 3 未能接替版本 2：驱动程序已 90 秒没有报告。 版本 2 在运行。",
  );
});

test("a refusal of the server and a diagnostic are causes as well", async () => {
  expect(await inChinese({ code: "simulator_busy", message: "Busy." })).toBe(
    "模拟器正忙。请几秒后重试。",
  );
  const facts = { reason: "x" };
  expect(await inChinese({ code: "analyzer", facts, message: "Not checked: x" })).toBe(
    "无法检查表达式：x",
  );
});

test("a failed deployment and one that waits show their causes in the language of the page", async () => {
  await fetchTexts("zh");
  setLanguage("zh");
  const { code, facts = {}, message } = SILENT;
  const failure: Failure = { code, facts, message, node: null, parameter: null, record: null };
  const since = "2026-01-01T00:00:00Z";
  const full = {
    code: "disk_full",
    message: "The disk is full.",
    since,
    attempts: 1,
    retry_at: since,
  };
  open(
    <>
      <FailureNote failure={failure} />
      <OutageNote outage={full} />
    </>,
  );
  expect(screen.getByTestId("failure").textContent).toContain("驱动程序已 90 秒没有报告。");
  expect(screen.getByTestId("outage").textContent).toContain("磁盘已满。请释放一些空间。");
});
