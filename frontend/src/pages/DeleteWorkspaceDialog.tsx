import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { deleteWorkspace, getWorkspaceContents } from "../api/accountCalls";
import { DeleteByName } from "../frame/DeleteByName";
import { notify } from "../frame/notify";
import { SESSION_KEY } from "../frame/session";
import { Waiting } from "../frame/Waiting";
import { Note } from "../ui";
import { t } from "../ui/i18n";

/** Deletes a workspace, after saying what is lost with it. */
export function DeleteWorkspaceDialog(props: {
  slug: string;
  name: string;
  onClose: () => void;
  /** When it is gone, and the session no longer has it. */
  onDeleted: () => void;
}) {
  const { slug, name, onClose, onDeleted } = props;
  const queries = useQueryClient();
  const contents = useQuery({
    queryKey: ["workspace-contents", slug],
    queryFn: () => getWorkspaceContents(slug),
    staleTime: 0,
  });
  const remove = useMutation({
    mutationFn: () => deleteWorkspace(slug, name),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: SESSION_KEY });
      notify(t("“{name}” was deleted.", { name }));
      onDeleted();
    },
  });
  const { data } = contents;
  return (
    <DeleteByName
      name={name}
      busy={remove.isPending}
      error={remove.error}
      refused={data !== undefined && data.running > 0}
      onDelete={remove.mutate}
      onClose={onClose}
    >
      {data === undefined ? (
        <Waiting query={contents} />
      ) : (
        <p>
          {t(
            {
              id: "pages.what_is_deleted_with_workspace",
              message:
                "This deletes its {topologies} {topologies, plural, one {topology} other {topologies}} with all versions, drafts, tests and comments, and its {deployments} {deployments, plural, one {deployment} other {deployments}} with state, logs and history of runs. {members} {members, plural, one {member loses} other {members lose}} access. It cannot be undone.",
            },
            data,
          )}
        </p>
      )}
      <p>
        {t({
          id: "pages.what_is_kept_of_workspace",
          message:
            "Accounts, topics in Kafka and a git repository are kept. The audit log remains for the admins of the installation.",
        })}
      </p>
      {data === undefined || data.running === 0 ? null : (
        <Note tone="degraded">
          {t(
            {
              id: "pages.deployments_of_workspace_run",
              message:
                "{n} {n, plural, one {deployment of it runs} other {deployments of it run}}. Stop {n, plural, one {it} other {them}} first.",
            },
            { n: data.running },
          )}
        </Note>
      )}
    </DeleteByName>
  );
}
