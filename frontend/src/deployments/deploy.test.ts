// @vitest-environment happy-dom

import { expect, test, vi } from "vitest";
import { editor } from "../commands/kit";
import { useDesigner } from "../designer/store";
import { useView } from "../designer/view";
import { deployDrawing } from "./acting";
import { deployNow } from "./deploy";

vi.mock("./acting", () => ({ deployDrawing: vi.fn(async () => null), knownDeployment: vi.fn() }));

const problem = {
  code: "missing",
  severity: "error",
  node: null,
  parameter: null,
  path: null,
  facts: {},
  message: "",
  hint: "",
  position: null,
  blocks: "deploy",
} as const;

test("a document that has just changed is compiled before it is saved or deployed", async () => {
  const edit = editor();
  edit.answer({});
  edit.drop("count", { at: { x: 0, y: 0 } });
  const done = deployNow(null);
  edit.answer({ diagnostics: [problem] });
  await done;
  expect(useView.getState()).toMatchObject({ bottomOpen: true, bottomTab: "problems" });
  expect(deployDrawing).not.toHaveBeenCalled();
  edit.answer({});
  await deployNow(null);
  expect(deployDrawing).toHaveBeenCalledTimes(1);
});

test("a topology that is opened while the compiler is awaited is not deployed", async () => {
  vi.mocked(deployDrawing).mockClear();
  const edit = editor();
  edit.drop("count", { at: { x: 0, y: 0 } });
  const done = deployNow(null);
  useDesigner.setState({ topologyId: 1 });
  edit.answer({});
  await done;
  expect(deployDrawing).not.toHaveBeenCalled();
});
