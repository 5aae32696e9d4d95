import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useDesigner } from "../designer/store";
import { useSession } from "../frame/session";
import { Waiting } from "../frame/Waiting";
import { labelOf } from "../graph/document";
import { Empty, Segments } from "../ui";
import { t } from "../ui/i18n";
import { Composer } from "./Composer";
import { addComment } from "./calls";
import classes from "./comments.module.css";
import { Thread } from "./Thread";
import { useThreads } from "./useThreads";

type Shown = "open" | "resolved";

/** The comments on the nodes of the topology, and a field for one on the selected node. */
export function CommentsPanel(props: {
  ws: string;
  topology: number;
  editor: boolean;
  operator: boolean;
}) {
  const { editor, operator, topology, ws } = props;
  const me = useSession().data?.user?.id ?? 0;
  const queries = useQueryClient();
  const query = useThreads(topology);
  const [shown, setShown] = useState<Shown>("open");
  const nodes = useDesigner((state) => state.document.nodes);
  const selected = useDesigner((state) =>
    state.selection.nodes.length === 1 ? (state.selection.nodes[0] ?? null) : null,
  );
  const node = nodes.find((each) => each.id === selected) ?? null;
  const all = query.data ?? [];
  const of = (which: Shown) =>
    all.filter((thread) => (thread.resolved_at === null) === (which === "open"));
  // Those of the selected node come first.
  const threads = of(shown).sort(
    (a, b) => Number(b.node === selected) - Number(a.node === selected) || b.id - a.id,
  );
  const refresh = () => void queries.invalidateQueries({ queryKey: ["comments", topology] });
  return (
    <div className={classes.panel} data-testid="comments">
      <div className={classes.bar}>
        <Segments<Shown>
          label={t("Comments")}
          value={shown}
          onChange={setShown}
          items={[
            { id: "open", title: t("Open: {n}", { n: of("open").length }) },
            { id: "resolved", title: t("Resolved: {n}", { n: of("resolved").length }) },
          ]}
        />
        {!editor ? null : node === null ? (
          <span className={classes.faint}>{t("Select a node to comment on it.")}</span>
        ) : (
          <Composer
            key={node.id}
            keep={`${topology}.${node.id}`}
            ws={ws}
            label={t("Comment on {node}", { node: labelOf(node) })}
            action={t("Comment")}
            onSend={async (text) => {
              await addComment(topology, {
                node: node.id,
                node_label: labelOf(node),
                text,
                reply_to: null,
              });
              setShown("open");
              refresh();
            }}
          />
        )}
      </div>
      <Waiting query={query} />
      {query.data === undefined ? null : threads.length === 0 ? (
        <Empty title={shown === "open" ? t("No open comments") : t("No resolved comments")}>
          {t("Comments stay with their node when it is renamed or moved.")}
        </Empty>
      ) : (
        <ul className={classes.list}>
          {threads.map((thread) => {
            const found = nodes.find((each) => each.id === thread.node);
            return (
              <Thread
                key={thread.id}
                ws={ws}
                topology={topology}
                thread={thread}
                label={found === undefined ? null : labelOf(found)}
                reader={{ id: me, editor, operator }}
                onShow={() => useDesigner.getState().goTo(thread.node, null)}
                onChanged={refresh}
              />
            );
          })}
        </ul>
      )}
    </div>
  );
}
