import { useMutation, useQueryClient } from "@tanstack/react-query";
import { deleteAbandonedDraft, listAbandonedDrafts } from "../api/accountCalls";
import { CardTable } from "../frame/CardTable";
import { ListFrame } from "../frame/ListFrame";
import { notifyError } from "../frame/notify";
import { usePages } from "../frame/paging";
import { Empty } from "../ui";
import { Confirm } from "../ui/Confirm";
import { ago, bytes, moment } from "../ui/format";
import { t } from "../ui/i18n";
import classes from "../ui/pages.module.css";

const KEY = ["installation", "drafts"];

/** Drafts of closed accounts and former members. */
export function AbandonedDrafts() {
  const queries = useQueryClient();
  const paging = usePages(KEY, listAbandonedDrafts);
  const remove = useMutation({
    mutationFn: deleteAbandonedDraft,
    onSettled: () => queries.invalidateQueries({ queryKey: KEY }),
    onError: (error) => notifyError(error, t("Draft not deleted")),
  });
  return (
    <ListFrame
      title={t("Abandoned drafts")}
      about={t({
        id: "pages.of_closed_accounts_and_former",
        message: "Of closed accounts and former members. Nobody else can open them.",
      })}
      paging={paging}
      search={t("Search drafts")}
      none={t("No draft matches “{search}”.", { search: paging.text })}
      empty={<Empty title={t("There are no abandoned drafts.")} />}
    >
      {(drafts) => (
        <CardTable head={[t("User name"), t("Workspace"), { number: t("Size") }, t("Changed"), ""]}>
          {drafts.map((draft) => (
            <tr key={draft.id} data-testid="abandoned-draft">
              <td className={classes.rowName}>{draft.user}</td>
              <td>{draft.workspace}</td>
              <td className={classes.number}>{bytes(draft.size)}</td>
              <td title={moment(draft.updated_at)}>{ago(draft.updated_at)}</td>
              <td className={classes.actions}>
                <Confirm
                  title={t("Delete…")}
                  question={t("The draft of {name} is lost. Saved versions are kept.", {
                    name: draft.user,
                  })}
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
