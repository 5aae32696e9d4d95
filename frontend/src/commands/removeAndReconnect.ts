import { knownRoles } from "../designer/derived";
import { removeAndReconnect as without } from "../graph/changes";
import { t } from "../ui/i18n";
import { type Command, editable, hasNodes } from "./command";

export const removeAndReconnect: Command = {
  id: "delete-and-reconnect",
  group: "edit",
  title: () => t("Delete and reconnect"),
  shortcuts: ["Shift+Delete", "Shift+Backspace"],
  enabled: (context) => editable(context) && hasNodes(context),
  run: ({ designer }) => {
    const { catalog, selection } = designer;
    if (catalog === null) return;
    designer.change(
      t("Delete {n} {n, plural, one {node} other {nodes}}", { n: selection.nodes.length }),
      (document) => without(document, catalog, knownRoles(designer), new Set(selection.nodes)),
      { select: { nodes: [], edges: [] } },
    );
  },
};
