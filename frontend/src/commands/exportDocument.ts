import { t } from "../ui/i18n";
import type { Command } from "./command";

export const exportDocument: Command = {
  id: "export-document",
  group: "topology",
  title: () => t("Download the document as JSON"),
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
