import { useView } from "../designer/view";
import type { Command } from "./command";
import { t } from "./texts";

export const zoomFit: Command = {
  id: "zoom-fit",
  group: "view",
  title: () => t("zoomFit"),
  shortcuts: ["1"],
  run: ({ canvas }) => canvas?.fit(),
};

export const zoomSelection: Command = {
  id: "zoom-selection",
  group: "view",
  title: () => t("zoomSelection"),
  shortcuts: ["2"],
  enabled: ({ designer }) => designer.selection.nodes.length > 0,
  run: ({ canvas, designer }) => canvas?.fit(designer.selection.nodes),
};

export const zoomActual: Command = {
  id: "zoom-actual",
  group: "view",
  title: () => t("zoomActual"),
  shortcuts: ["0"],
  run: ({ canvas }) => canvas?.zoomTo(1),
};

export const zoomIn: Command = {
  id: "zoom-in",
  group: "view",
  title: () => t("zoomIn"),
  shortcuts: ["+", "="],
  run: ({ canvas }) => canvas?.zoomBy(1.25),
};

export const zoomOut: Command = {
  id: "zoom-out",
  group: "view",
  title: () => t("zoomOut"),
  shortcuts: ["-"],
  run: ({ canvas }) => canvas?.zoomBy(0.8),
};

export const layerDesign: Command = {
  id: "layer-design",
  group: "view",
  title: () => t("layerDesign"),
  shortcuts: ["Alt+1"],
  run: ({ designer }) => designer.setLayer("design"),
};

export const layerPlan: Command = {
  id: "layer-plan",
  group: "view",
  title: () => t("layerPlan"),
  shortcuts: ["Alt+2"],
  run: ({ designer }) => designer.setLayer("plan"),
};

export const layerRuntime: Command = {
  id: "layer-runtime",
  group: "view",
  title: () => t("layerRuntime"),
  shortcuts: ["Alt+3"],
  run: ({ designer }) => designer.setLayer("runtime"),
};

export const toggleLeft: Command = {
  id: "toggle-left",
  group: "view",
  title: () => t("toggleLeft"),
  shortcuts: ["["],
  run: () => useView.getState().set({ leftOpen: !useView.getState().leftOpen }),
};

export const toggleRight: Command = {
  id: "toggle-right",
  group: "view",
  title: () => t("toggleRight"),
  shortcuts: ["]"],
  run: () => useView.getState().set({ rightOpen: !useView.getState().rightOpen }),
};

export const toggleBottom: Command = {
  id: "toggle-bottom",
  group: "view",
  title: () => t("toggleBottom"),
  shortcuts: ["`"],
  run: () => useView.getState().set({ bottomOpen: !useView.getState().bottomOpen }),
};

export const toggleTypes: Command = {
  id: "toggle-edge-types",
  group: "view",
  title: () => t("toggleTypes"),
  shortcuts: ["T"],
  run: () => useView.getState().set({ edgeTypes: !useView.getState().edgeTypes }),
};

export const toggleMinimap: Command = {
  id: "toggle-minimap",
  group: "view",
  title: () => t("toggleMinimap"),
  shortcuts: ["M"],
  run: () => useView.getState().set({ minimap: !useView.getState().minimap }),
};
