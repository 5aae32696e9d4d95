import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { ApiError } from "../api/client";
import { type Cause, describeCause, describeDiagnostic } from "../api/prose";
import type { Deployment, Diagnostic, Failure } from "../api/types";
import { DeploymentSteps } from "../deployments/DeploymentSteps";
import { FailureNote } from "../deployments/FailureNote";
import { OutageNote } from "../deployments/OutageNote";
import { open } from "../testing/rendering";
import { fetchTexts, setLanguage } from "../ui/i18n";

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
  return describeCause(cause);
}

test("a cause is described in the language of the page", async () => {
  expect(describeCause(SILENT)).toBe(SILENT.message);
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
    "版本 3 未能接替版本 2（版本 2 在运行）：驱动程序已 90 秒没有报告。",
  );
});

test("a driver that was restarted because it was silent is described in whole", async () => {
  const message = `${SILENT.message} It was restarted; a thread dump was saved.`;
  expect(await inChinese({ code: "driver_restarted", message, cause: SILENT })).toBe(
    "驱动程序已 90 秒没有报告。驱动程序已重新启动，并保存了线程转储。",
  );
});

test("a record that cannot be read or written says why, down to the last cause", async () => {
  const registry = "http://schemas.example";
  const cause = { code: "registry_subject", facts: { registry, subject: "a" }, message: "…" };
  expect(await inChinese({ code: "registry", message: "the schema registry …", cause })).toBe(
    `模式注册中心没有给出所需的模式：模式注册中心 ${registry} 没有 subject a。`,
  );
  const size = { format: "integer", needed: "4", found: "3" };
  const bytes = { code: "bytes_size", facts: size, message: "…" };
  const record: Cause = { code: "deserialization", message: "…", cause: bytes };
  expect(
    await inChinese({
      code: "restart_limit",
      facts: { count: "8", minutes: "10" },
      message: "…",
      cause: record,
    }),
  ).toBe(
    "驱动程序在 10 分钟内丢失了 8 次。上一次：无法反序列化记录：格式 integer 需要 4 个字节，但有 3 个。",
  );
});

test("the sentence whose facts are known is shown", async () => {
  const message = "The broker does not respond.";
  expect(await inChinese({ code: "broker_unreachable", message })).toBe(
    "Kafka broker 没有响应。请检查其地址、网络以及它是否在运行。",
  );
  const facts = { servers: "a:1", reason: "Connection refused" };
  expect(await inChinese({ code: "broker_unreachable", facts, message })).toBe(
    "Kafka（a:1）没有响应：“Connection refused”。",
  );
  expect(await inChinese({ code: "topic_missing", message: "…" })).toContain("的一个主题");
});

test("a refusal quotes its cause in the language of the page", async () => {
  await fetchTexts("zh");
  const cause: Cause = {
    code: "json_type",
    facts: { place: "/n", found: '"two"', needed: "INT" },
    message: 'found the text "two" at /n, needs INT',
  };
  const facts = { format: "avro", reason: cause.message };
  const error = { code: "value_unfit", message: `A value does not fit: ${cause.message}.`, facts };
  setLanguage("zh");
  expect(new ApiError(400, { error: { ...error, cause } }).message).toBe(
    '该值不符合其格式：/n 处是 "two"，应为 INT。',
  );
  expect(new ApiError(400, { error }).message).toBe(`该值不符合其格式：${cause.message}`);
  setLanguage("en");
  expect(new ApiError(400, { error: { ...error, cause } }).message).toBe(error.message);
});

test("a topic that is not allowed is described in the language of the page", async () => {
  await fetchTexts("zh");
  setLanguage("zh");
  const facts = { topic: "sums", prefixes: "orders-…" };
  const found = {
    code: "topic_not_allowed",
    facts,
    message: "…",
    hint: "…",
  } as unknown as Diagnostic;
  expect(describeDiagnostic(found)).toEqual({
    message: "此工作区不能使用主题“sums”。",
    hint: "此工作区的主题以下列前缀开头：orders-…",
  });
});

test("the steps of a deployment say how far they are in the language of the page", async () => {
  await fetchTexts("zh");
  setLanguage("zh");
  const step = { started_at: null, finished_at: null };
  const cold = { code: "cold_memory", facts: { needed: "1,792", free: "900" }, message: "…" };
  const written = { code: "moving_state_written", facts: { rows: "12,000" }, message: "…" };
  const deployment = {
    observed: "starting",
    steps: [
      { ...step, name: "stage", state: "done", detail: cold },
      { ...step, name: "start", state: "running", detail: written },
    ],
  } as unknown as Deployment;
  open(<DeploymentSteps deployment={deployment} />);
  const shown = screen.getByTestId("deployment-steps").textContent;
  expect(shown).toContain("第二个驱动程序需要 1,792 MB 内存，但只有 900 MB 可用");
  expect(shown).toContain("正在移动状态：已写入 12,000 行。");
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
