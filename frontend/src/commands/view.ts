import type { Layer } from "../designer/store";
import { useView } from "../designer/view";
import { t } from "../ui/i18n";
import type { Command } from "./command";

export const zoomFit: Command = {
  id: "zoom-fit",
  group: "view",
  title: () => t("Show everything"),
  shortcuts: ["1"],
  run: ({ canvas }) => canvas?.fit(),
};

export const zoomSelection: Command = {
  id: "zoom-selection",
  group: "view",
  title: () => t("Show the selection"),
  shortcuts: ["2"],
  enabled: ({ designer }) => designer.selection.nodes.length > 0,
  run: ({ canvas, designer }) => canvas?.fit(designer.selection.nodes),
};

export const zoomActual: Command = {
  id: "zoom-actual",
  group: "view",
  title: () => t("Zoom to 100%"),
  shortcuts: ["0"],
  run: ({ canvas }) => canvas?.zoomTo(1),
};

export const zoomIn: Command = {
  id: "zoom-in",
  group: "view",
  title: () => t("Zoom in"),
  shortcuts: ["+", "="],
  run: ({ canvas }) => canvas?.zoomBy(1.25),
};

export const zoomOut: Command = {
  id: "zoom-out",
  group: "view",
  title: () => t("Zoom out"),
  shortcuts: ["-"],
  run: ({ canvas }) => canvas?.zoomBy(0.8),
};

const layer = (id: Layer, title: () => string, shortcut: string): Command => ({
  id: `layer-${id}`,
  group: "view",
  title,
  shortcuts: [shortcut],
  run: ({ designer }) => designer.setLayer(id),
});

export const layerDesign = layer("design", () => t("Layer: Design"), "Alt+1");
export const layerPlan = layer("plan", () => t("Layer: Plan"), "Alt+2");
export const layerRuntime = layer("runtime", () => t("Layer: Runtime"), "Alt+3");

type Part = "programOpen" | "leftOpen" | "rightOpen" | "bottomOpen" | "edgeTypes" | "minimap";

const toggle = (id: string, part: Part, title: () => string, shortcut: string): Command => ({
  id: `toggle-${id}`,
  group: "view",
  title,
  shortcuts: [shortcut],
  run: () => useView.getState().set({ [part]: !useView.getState()[part] }),
});

export const toggleLeft = toggle("left", "leftOpen", () => t("Show or hide the left panel"), "[");
export const toggleRight = toggle("right", "rightOpen", () => t("Show or hide the inspector"), "]");
export const toggleBottom = toggle(
  "bottom",
  "bottomOpen",
  () => t("Show or hide the bottom panel"),
  "`",
);
export const toggleTypes = toggle(
  "edge-types",
  "edgeTypes",
  () => t("Show types on all edges"),
  "T",
);
export const toggleMinimap = toggle("minimap", "minimap", () => t("Show or hide the minimap"), "M");
export const toggleProgram = toggle(
  "program",
  "programOpen",
  () => t("Show or hide the program"),
  "E",
);
