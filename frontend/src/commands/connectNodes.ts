import { knownRoles } from "../designer/derived";
import type { DesignerState } from "../designer/store";
import { portsOf } from "../graph/catalog";
import { connect } from "../graph/changes";
import { firstFit } from "../graph/connect";
import { findNode } from "../graph/document";
import { t } from "../ui/i18n";
import { type Command, editable } from "./command";

/** The wire from the first selected node to the second or, if that does not fit, in the other direction. */
function wire(designer: DesignerState) {
  const { catalog, document, selection } = designer;
  const [first, second] = selection.nodes;
  if (catalog === null || first === undefined || second === undefined) return null;
  if (selection.nodes.length !== 2) return null;
  for (const [source, target] of [
    [first, second],
    [second, first],
  ] as const) {
    const node = findNode(document, source);
    if (node === undefined) continue;
    for (const port of portsOf(catalog, node)) {
      if (port.side !== "output") continue;
      const from = { node: source, port: port.name };
      const to = firstFit(document, catalog, knownRoles(designer), from, target);
      if (to !== null) return { from, to };
    }
  }
  return null;
}

export const connectNodes: Command = {
  id: "connect",
  group: "edit",
  title: () => t("Connect the two selected nodes"),
  shortcuts: ["C"],
  enabled: (context) => editable(context) && wire(context.designer) !== null,
  run: ({ designer }) => {
    const found = wire(designer);
    if (found === null) return;
    designer.change(t("Connect"), (document) => connect(document, found.from, found.to));
  },
};
