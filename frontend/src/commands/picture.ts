import { t } from "../ui/i18n";
import type { Command, CommandContext } from "./command";

const drawn = ({ designer }: CommandContext) => designer.document.nodes.length > 0;

export const exportSvg: Command = {
  id: "export-svg",
  group: "topology",
  title: () => t("Download the picture as SVG"),
  enabled: drawn,
  run: async () => (await import("../picture")).saveSvg(),
};

export const exportPng: Command = {
  id: "export-png",
  group: "topology",
  title: () => t("Download the picture as PNG"),
  enabled: drawn,
  run: async () => (await import("../picture")).savePng(),
};

export const printPicture: Command = {
  id: "print",
  group: "topology",
  title: () => t("Print the picture…"),
  shortcuts: ["Mod+P"],
  enabled: drawn,
  run: async () => (await import("../picture")).printPicture(),
};
