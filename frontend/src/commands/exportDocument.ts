import type { Command } from "./command";
import { t } from "./texts";

export const exportDocument: Command = {
  id: "export-document",
  group: "topology",
  title: () => t("exportDocument"),
  run: ({ designer }) => {
    const text = `${JSON.stringify(designer.document, null, 2)}\n`;
    const link = document.createElement("a");
    const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.href = url;
    link.download = `${designer.document.name || "topology"}.json`;
    link.click();
    URL.revokeObjectURL(url);
  },
};
