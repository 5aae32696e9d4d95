import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { viewOf } from "../live/view";
import { open } from "../testing/rendering";
import { aDeployment, aDocument, aReport, aTask } from "../testing/samples";
import { AssignmentTable } from "./AssignmentTable";

afterEach(cleanup);

test("the table shows the stream time of each task", () => {
  const times = [Date.parse("2026-01-31T14:00:00Z"), Date.parse("2026-01-31T15:30:00Z")];
  const runtime = aReport({
    tasks: times.map((stream_time, index) => aTask({ task: `0_${index}`, stream_time })),
  });
  const deployed = { document: aDocument(), subtopologies: {} };
  const view = viewOf({ deployment: aDeployment(), deployed, runtime, stale: false });
  open(<AssignmentTable tasks={view?.tasks ?? []} />);
  const rows = screen.getAllByRole("row").slice(1);
  const shown = rows.map((row) => row.lastElementChild?.textContent ?? "");
  expect(shown).toHaveLength(2);
  expect(shown[0]).toContain("14:00");
  expect(shown[1]).toContain("15:30");
});
