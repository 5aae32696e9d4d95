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
  title: () => t("Zoom to 100 %"),
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

export const layerDesign: Command = {
  id: "layer-design",
  group: "view",
  title: () => t("Layer: Design"),
  shortcuts: ["Alt+1"],
  run: ({ designer }) => designer.setLayer("design"),
};

export const layerPlan: Command = {
  id: "layer-plan",
  group: "view",
  title: () => t("Layer: Plan"),
  shortcuts: ["Alt+2"],
  run: ({ designer }) => designer.setLayer("plan"),
};

export const layerRuntime: Command = {
  id: "layer-runtime",
  group: "view",
  title: () => t("Layer: Runtime"),
  shortcuts: ["Alt+3"],
  run: ({ designer }) => designer.setLayer("runtime"),
};

export const toggleLeft: Command = {
  id: "toggle-left",
  group: "view",
  title: () => t("Show or hide the left panel"),
  shortcuts: ["["],
  run: () => useView.getState().set({ leftOpen: !useView.getState().leftOpen }),
};

export const toggleRight: Command = {
  id: "toggle-right",
  group: "view",
  title: () => t("Show or hide the inspector"),
  shortcuts: ["]"],
  run: () => useView.getState().set({ rightOpen: !useView.getState().rightOpen }),
};

export const toggleBottom: Command = {
  id: "toggle-bottom",
  group: "view",
  title: () => t("Show or hide the bottom panel"),
  shortcuts: ["`"],
  run: () => useView.getState().set({ bottomOpen: !useView.getState().bottomOpen }),
};

export const toggleTypes: Command = {
  id: "toggle-edge-types",
  group: "view",
  title: () => t("Show types on all edges"),
  shortcuts: ["T"],
  run: () => useView.getState().set({ edgeTypes: !useView.getState().edgeTypes }),
};

export const toggleMinimap: Command = {
  id: "toggle-minimap",
  group: "view",
  title: () => t("Show or hide the minimap"),
  shortcuts: ["M"],
  run: () => useView.getState().set({ minimap: !useView.getState().minimap }),
};
