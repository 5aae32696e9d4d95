import { foldedOf } from "../designer/drawn";
import { useNoteEditing } from "../designer/noteEditing";
import { useDesigner } from "../designer/store";
import { isStoreKind, type TopologyDocument } from "../graph/document";
import {
  addNote as addNoteTo,
  ungroup as dissolve,
  freeNotePlace,
  type Group,
  groupOf,
  groupOfExactly,
  groupsOf,
  isCollapsed,
  makeGroup,
  NO_FOLDS,
  NOTE_HEIGHT,
  NOTE_WIDTH,
  setGroup,
  setGroupOf,
} from "../graph/drawing";
import { snap } from "../graph/geometry";
import { t } from "../ui/i18n";
import { type Command, type CommandContext, editable, hasNodes } from "./command";

/** The group that is selected: all its nodes, and nothing else. */
export function chosenGroup({ designer }: Pick<CommandContext, "designer">): Group | undefined {
  return groupOfExactly(designer.document, designer.selection.nodes);
}

/** The group that a command is about: the selected one, or the one around the selected nodes. */
function nearGroup(context: CommandContext): Group | undefined {
  const { document, selection } = context.designer;
  const first = selection.nodes[0];
  return chosenGroup(context) ?? (first === undefined ? undefined : groupOf(document, first));
}

/** Nodes with the stores that nothing else uses. */
function withStores(document: TopologyDocument, nodes: readonly string[]): string[] {
  const chosen = new Set(nodes);
  const stores = document.nodes.filter(({ id, kind }) => {
    const users = document.edges.filter((edge) => edge.source === id);
    return isStoreKind(kind) && users.length > 0 && users.every((edge) => chosen.has(edge.target));
  });
  return [...new Set([...nodes, ...stores.map((store) => store.id)])];
}

export const group: Command = {
  id: "group",
  group: "arrange",
  title: () => t("Group the selection"),
  shortcuts: ["Mod+G"],
  enabled: (context) => editable(context) && hasNodes(context),
  run: ({ designer }) => {
    const nodes = withStores(designer.document, designer.selection.nodes);
    designer.change(
      t("Group {n} {n, plural, one {node} other {nodes}}", { n: nodes.length }),
      (document) => makeGroup(document, nodes, t("Group")).document,
      { select: { nodes, edges: [] } },
    );
  },
};

export const ungroup: Command = {
  id: "ungroup",
  group: "arrange",
  title: () => t("Ungroup"),
  shortcuts: ["Mod+Shift+G"],
  enabled: (context) => editable(context) && nearGroup(context) !== undefined,
  run: (context) => {
    const found = nearGroup(context);
    if (found === undefined) return;
    context.designer.change(t("Ungroup"), (document) => dissolve(document, found.id));
  },
};

export const leaveGroup: Command = {
  id: "leave-group",
  group: "arrange",
  title: () => t("Take out of the group"),
  enabled: (context) =>
    editable(context) &&
    chosenGroup(context) === undefined &&
    context.designer.selection.nodes.some(
      (node) => groupOf(context.designer.document, node) !== undefined,
    ),
  run: ({ designer }) => {
    const { nodes } = designer.selection;
    designer.change(t("Take out of the group"), (document) =>
      nodes.reduce((now, node) => setGroupOf(now, node, undefined), document),
    );
  },
};

export const foldGroup: Command = {
  id: "fold-group",
  group: "view",
  title: () => t("Collapse or expand the group"),
  shortcuts: ["Mod+."],
  enabled: (context) => nearGroup(context) !== undefined,
  run: (context) => {
    const { designer } = context;
    const found = nearGroup(context);
    if (found === undefined) return;
    const hiding = foldedOf(designer).hidden.get(designer.selection.nodes[0] ?? "");
    if (hiding?.collapsed === true) designer.fold(hiding.group.id, false);
    else designer.fold(found.id, !isCollapsed(found, designer.folds));
  },
};

/** Collapses or expands all groups at once. */
const foldAll = (id: string, collapsed: boolean, title: Command["title"]): Command => ({
  id,
  group: "view",
  title,
  enabled: ({ designer }) =>
    groupsOf(designer.document).some((each) => isCollapsed(each, designer.folds) !== collapsed),
  run: ({ designer }) => {
    if (designer.readOnly) {
      for (const each of groupsOf(designer.document)) designer.fold(each.id, collapsed);
      return;
    }
    designer.change(collapsed ? t("Collapse all groups") : t("Expand all groups"), (document) =>
      groupsOf(document).reduce((now, each) => setGroup(now, each.id, { collapsed }), document),
    );
    useDesigner.setState({ folds: NO_FOLDS });
  },
});

export const collapseAll = foldAll("collapse-groups", true, () => t("Collapse all groups"));
export const expandAll = foldAll("expand-groups", false, () => t("Expand all groups"));

export const addNote: Command = {
  id: "add-note",
  group: "add",
  title: () => t("Add a note"),
  shortcuts: ["Alt+N"],
  writes: true,
  enabled: editable,
  run: ({ canvas, designer }) => {
    const at = canvas?.pointer() ?? canvas?.centre() ?? { x: 0, y: 0 };
    const wanted = { x: at.x - NOTE_WIDTH / 2, y: at.y - NOTE_HEIGHT / 2 };
    const { catalog } = designer;
    const place =
      catalog === null
        ? snap(wanted)
        : freeNotePlace(designer.document, catalog, foldedOf(designer), wanted);
    let made = "";
    designer.change(t("Add a note"), (document) => {
      const added = addNoteTo(document, place);
      made = added.id;
      return added.document;
    });
    designer.select({ notes: [made] });
    useNoteEditing.setState({ id: made });
  },
};

export const editNote: Command = {
  id: "edit-note",
  group: "edit",
  title: () => t("Edit the note"),
  enabled: (context) =>
    editable(context) &&
    context.designer.selection.nodes.length === 0 &&
    context.designer.selection.notes?.length === 1,
  run: ({ designer }) => useNoteEditing.setState({ id: designer.selection.notes?.[0] ?? null }),
};
