import { act } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { useLive } from "../live/store";
import { render, type, until } from "../testing/rendering";
import { aDeployment } from "../testing/samples";
import { DeploymentCard } from "./DeploymentCard";
import { ScheduleDialog } from "./ScheduleDialog";
import { daysText, openSchedule, problemOfTimes, timesText, useScheduling } from "./schedule";

const WEEK = { days: [1, 2, 3, 4, 5], start: "08:00", stop: "18:00" };
const SCHEDULE = {
  times: [WEEK],
  zone: "Europe/Berlin",
  set_by: "Ada",
  next_at: "2030-01-01T07:00:00Z",
  next_action: "start" as const,
  deviates: false,
  last_at: null,
  last_action: null,
  failure: null,
};
const sent: { method: string; path: string; body: unknown }[] = [];

beforeEach(() => {
  vi.stubGlobal("fetch", async (request: Request) => {
    const text = await request.text();
    const { method, url } = request;
    sent.push({ method, path: new URL(url).pathname, body: text === "" ? null : JSON.parse(text) });
    return Response.json({ ...aDeployment(), schedule: method === "PUT" ? SCHEDULE : null });
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  sent.length = 0;
});

const find = <T extends HTMLElement>(selector: string) => document.querySelector<T>(selector);

test("days in a row are named by the first and the last, all of them as daily", () => {
  expect(daysText([5, 1, 2, 3])).toBe("Mon–Wed, Fri");
  expect(daysText([6, 7])).toBe("Sat, Sun");
  expect(daysText([1, 2, 3, 4, 5, 6, 7])).toBe("daily");
  expect(timesText([WEEK, { days: [6], start: "09:00", stop: "12:00" }])).toBe(
    "Mon–Fri 08:00–18:00; Sat 09:00–12:00",
  );
  expect(problemOfTimes(WEEK)).toBeNull();
  expect(problemOfTimes({ ...WEEK, days: [] })).toBe("Choose a day.");
  expect(problemOfTimes({ ...WEEK, stop: "8:00" })).toBe("Enter times such as 08:00.");
});

test("times are set by days, start and stop, and removed", async () => {
  useLive.setState({ deployment: aDeployment() });
  const close = await render(<ScheduleDialog />);
  const save = find<HTMLButtonElement>("[data-testid=schedule-save]");
  await type(find<HTMLInputElement>("[aria-label=Start]"), "25:00");
  expect(save?.disabled).toBe(true);
  await type(find<HTMLInputElement>("[aria-label=Start]"), "22:00");
  expect(find("[data-testid=schedule]")?.textContent).toContain("next day");
  await act(async () => find<HTMLButtonElement>("[aria-label=Days] button:last-child")?.click());
  expect(find("[data-testid=schedule-remove]")).toBeNull();
  await act(async () => save?.click());
  await until(() =>
    expect(sent.at(-1)).toMatchObject({
      method: "PUT",
      path: "/api/deployments/1/schedule",
      body: { times: [{ days: [1, 2, 3, 4, 5, 7], start: "22:00", stop: "18:00" }] },
    }),
  );
  await close();
  useLive.setState({ deployment: aDeployment({ schedule: SCHEDULE }) });
  const closeAgain = await render(<ScheduleDialog />);
  const before = sent.length;
  await act(async () => find<HTMLButtonElement>("[data-testid=schedule-remove]")?.click());
  await until(() => expect(find("[data-testid=schedule-remove-now]")).not.toBeNull());
  expect(sent.length).toBe(before);
  await act(async () => find<HTMLButtonElement>("[data-testid=schedule-remove-now]")?.click());
  await until(() => expect(sent.at(-1)?.method).toBe("DELETE"));
  await closeAgain();
});

test("the card shows when it runs, the next start, and why the last one was missed", async () => {
  const failure = { code: "x", message: "No account.", hint: "Set it again.", facts: {} };
  const last = { last_action: "stop", last_at: "2026-01-05T17:00:00Z", deviates: true } as const;
  const deployment = aDeployment({ schedule: { ...SCHEDULE, ...last, failure } });
  const close = await render(<DeploymentCard deployment={deployment} state="running" operator />);
  const line = find("[data-testid=schedule-line]")?.textContent;
  expect(line).toContain("Mon–Fri 08:00–18:00 Europe/Berlin");
  // Nobody started or stopped it outside its times.
  expect(line).toMatch(/Berlin ?Next start/);
  const again = [...document.querySelectorAll("[data-testid=schedule-line] button")];
  await act(async () => (again[0] as HTMLButtonElement).click());
  expect(useScheduling.getState().open).toBe(true);
  openSchedule(false);
  expect(line).toMatch(/It was not stopped at 2026-01-05 .*\. No account\. Set it again\./);
  await close();
});

test("a time that has come is not said to be past before it is applied", async () => {
  const next_at = new Date(Date.now() - 5_000).toISOString();
  const deployment = aDeployment({ schedule: { ...SCHEDULE, next_at } });
  const close = await render(<DeploymentCard deployment={deployment} state="running" operator />);
  expect(find("[data-testid=schedule-line]")?.textContent).toContain("Next start within a minute");
  await close();
});

test("the card says that a person started it outside its times", async () => {
  const schedule = { ...SCHEDULE, next_action: "stop" as const, deviates: true };
  const close = await render(
    <DeploymentCard deployment={aDeployment({ schedule })} state="running" operator />,
  );
  expect(find("[data-testid=schedule-line]")?.textContent).toContain(
    "Started outside its times. Next stop",
  );
  await close();
});
