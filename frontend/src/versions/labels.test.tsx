import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import type { Version } from "../api/types";
import { CATALOG } from "../commands/kit";
import { TopicsDialog } from "../deployments/TopicsDialog";
import { useDesigner } from "../designer/store";
import { ConflictDialog } from "../pages/ConflictDialog";
import { open } from "../testing/rendering";
import { aDocument } from "../testing/samples";
import { fetchTexts, setLanguage } from "../ui/i18n";
import { restoreVersion, takeTheirs, useEditing } from "./editing";

const other = (name: string) => ({ ...aDocument(), name });

vi.mock("../api/topologyCalls", async (original) => ({
  ...(await original()),
  getVersion: async () => ({ document: other("earlier") }),
  createVersion: async () => new Promise(() => undefined),
}));

const THEIRS = {
  ...{ number: 3, document: other("theirs"), message: "", author: null },
  created_at: "2026-01-01T00:00:00Z",
} as Version;

/** The label of the last undo entry. */
const last = () => useDesigner.getState().history.past.at(-1)?.label;

beforeAll(() => fetchTexts("zh"));
afterEach(() => {
  cleanup();
  setLanguage("en");
});

test("undo shows in the page's language what was taken, restored, merged and replaced", async () => {
  setLanguage("zh");
  useDesigner.getState().open({ topologyId: 5, document: aDocument(), catalog: CATALOG });
  useEditing.setState({ topology: 5 });

  takeTheirs(THEIRS);
  expect(last()).toBe("采用版本 3");
  await restoreVersion({ number: 2 } as Version);
  expect(last()).toBe("恢复版本 2");
  expect(useDesigner.getState().document.name).toBe("earlier");

  open(<ConflictDialog conflict={{ base: other("base"), theirs: THEIRS, message: "" }} />);
  fireEvent.click(screen.getByTestId("save-merged"));
  expect(last()).toBe("合并版本 3");
  cleanup();

  const missing = {
    name: "order",
    node: null,
    parameter: "dead_letter_topic",
    partitions: 1,
    nearest: ["orders"],
  };
  useDesigner.getState().change("set" as never, (document) => ({
    ...document,
    settings: { dead_letter_topic: "order" },
  }));
  open(<TopicsDialog question={{ topics: [missing], settings: null }} />);
  fireEvent.click(screen.getByRole("button", { name: "使用 orders" }));
  expect(last()).toBe("使用主题 orders");
});
