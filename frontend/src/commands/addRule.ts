import { useDesigner } from "../designer/store";
import { edgeId, sourcePort } from "../graph/document";
import { t } from "../ui/i18n";
import { addKind } from "./addNode";
import { type Command, type CommandContext, editable } from "./command";

/** The selected edge, if it is one of the document that carries a stream: rows of a table can only be dropped. */
function chosenStream({ designer }: CommandContext): string | undefined {
  const { document, result, selection } = designer;
  const [chosen, ...others] = selection.edges;
  const edge = document.edges.find((each) => edgeId(each) === chosen);
  if (edge === undefined || others.length > 0) return undefined;
  return result?.ports[edge.source]?.[sourcePort(edge)]?.role === "stream" ? chosen : undefined;
}

export const addRule: Command = {
  id: "add-rule",
  group: "add",
  title: () => t("Add a rule"),
  enabled: (context) => editable(context) && chosenStream(context) !== undefined,
  run: (context) => {
    const edge = chosenStream(context);
    if (edge === undefined) return;
    const made = addKind("filter", { edge, params: { rejected: "count" } });
    // Its condition is what it needs first.
    if (made !== null) useDesigner.getState().goTo(made, "predicate");
  },
};
