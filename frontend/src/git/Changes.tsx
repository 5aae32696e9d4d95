import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Suspense, useState } from "react";
import type { OutsideChange } from "../api/types";
import { CardTable } from "../frame/CardTable";
import { Waiting } from "../frame/Waiting";
import { Chip } from "../ui";
import { ago, moment } from "../ui/format";
import { t } from "../ui/i18n";
import { later } from "../ui/later";
import classes from "../ui/pages.module.css";
import { listChanges } from "./calls";
import own from "./git.module.css";
import { changeText } from "./words";

const ChangeDialog = later(async () => (await import("./ChangeDialog")).ChangeDialog);

/** What others changed in the repository, as last pulled. `asOf` changes with each pull. */
export function Changes(props: { ws: string; editor: boolean; asOf: string }) {
  const { asOf, editor, ws } = props;
  const queries = useQueryClient();
  const [opened, setOpened] = useState<OutsideChange | null>(null);
  const query = useQuery({
    queryKey: ["repository-changes", ws, asOf],
    queryFn: () => listChanges(ws),
    placeholderData: (before) => before,
  });
  const changes = query.data ?? [];
  const close = () => {
    setOpened(null);
    void queries.invalidateQueries({ queryKey: ["repository-changes", ws] });
    void queries.invalidateQueries({ queryKey: ["repository", ws] });
  };
  return (
    <div className={own.changes}>
      <Waiting query={query} />
      {query.data === undefined ? null : changes.length === 0 ? (
        <p className={classes.faint} data-testid="no-changes">
          {t("Nobody else has changed anything in the repository.")}
        </p>
      ) : (
        <CardTable
          head={[t("Changed in the repository"), t("What"), t("Last commit"), ""]}
          className={own.list}
          testId="outside-changes"
        >
          {changes.map((change) => (
            <tr key={change.folder}>
              <td>
                <span className={classes.rowName}>{change.topology_name ?? change.folder}</span>
              </td>
              <td>
                {changeText(change)}{" "}
                {change.conflict ? <Chip tone="degraded">{t("both sides changed it")}</Chip> : null}
              </td>
              <td className={classes.text}>
                {change.message === null ? null : (
                  <span title={change.at === null ? undefined : moment(change.at * 1000)}>
                    {change.message}
                    <span className={classes.faint}>
                      {" · "}
                      {change.author}
                      {change.at === null ? "" : ` · ${ago(change.at * 1000)}`}
                    </span>
                  </span>
                )}
              </td>
              <td className={classes.actions}>
                <Button variant="subtle" onClick={() => setOpened(change)}>
                  {t("Show…")}
                </Button>
              </td>
            </tr>
          ))}
        </CardTable>
      )}
      {opened === null ? null : (
        <Suspense fallback={null}>
          <ChangeDialog ws={ws} seen={opened} editor={editor} onClose={close} />
        </Suspense>
      )}
    </div>
  );
}
