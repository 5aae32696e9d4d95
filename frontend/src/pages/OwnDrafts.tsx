import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "react-router";
import { deleteDraft, listDrafts } from "../api/accountCalls";
import { CardTable } from "../frame/CardTable";
import { ListFrame } from "../frame/ListFrame";
import { notifyError } from "../frame/notify";
import { usePages } from "../frame/paging";
import { useSession } from "../frame/session";
import { Confirm } from "../ui/Confirm";
import { ago, bytes, moment } from "../ui/format";
import { t } from "../ui/i18n";
import classes from "../ui/pages.module.css";

const KEY = ["drafts"];

/** The person's own drafts in all workspaces; nothing without one. */
export function OwnDrafts() {
  const queries = useQueryClient();
  const { data: session } = useSession();
  const paging = usePages(KEY, listDrafts);
  const remove = useMutation({
    mutationFn: deleteDraft,
    onSettled: () => queries.invalidateQueries({ queryKey: KEY }),
    onError: (error) => notifyError(error, t("Draft not deleted")),
  });
  const { found, text } = paging;
  if (found === undefined || (found.count === 0 && text === "")) return null;
  const mine = new Set(session?.workspaces.map((each) => each.slug));
  return (
    <ListFrame
      title={t("Your drafts")}
      about={t({
        id: "pages.changes_that_you_have",
        message: "Changes that you have not saved as a version. Only you can see them.",
      })}
      paging={paging}
      search={t("Search drafts")}
      none={t("No draft matches “{search}”.", { search: text })}
    >
      {(drafts) => (
        <CardTable head={[t("Topology"), t("Workspace"), { number: t("Size") }, t("Changed"), ""]}>
          {drafts.map((draft) => (
            <tr key={draft.id} data-testid="own-draft">
              <td className={classes.rowName}>
                {mine.has(draft.workspace) ? (
                  <Link to={`/w/${draft.workspace}/t/${draft.topology}`} className={classes.link}>
                    {draft.name}
                  </Link>
                ) : (
                  draft.name
                )}
              </td>
              <td>{draft.workspace}</td>
              <td className={classes.number}>{bytes(draft.size)}</td>
              <td title={moment(draft.updated_at)}>{ago(draft.updated_at)}</td>
              <td className={classes.actions}>
                <Confirm
                  title={t("Delete…")}
                  question={t("Your unsaved changes of “{name}” are lost.", { name: draft.name })}
                  action={t("Delete the draft")}
                  busy={remove.isPending && remove.variables === draft.id}
                  onConfirm={() => remove.mutate(draft.id)}
                  testId="delete-draft"
                />
              </td>
            </tr>
          ))}
        </CardTable>
      )}
    </ListFrame>
  );
}
