import { Button } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Repository, RepositoryState } from "../api/types";
import { Head } from "../frame/ListFrame";
import { notifyError } from "../frame/notify";
import { Waiting } from "../frame/Waiting";
import { Empty, Note, StateDot } from "../ui";
import { Confirm } from "../ui/Confirm";
import { ago, briefTime } from "../ui/format";
import { t } from "../ui/i18n";
import classes from "../ui/pages.module.css";
import { BindDialog } from "./BindDialog";
import { Changes } from "./Changes";
import { getRepository, syncRepository, unbindRepository } from "./calls";
import own from "./git.module.css";
import { failureText } from "./words";

/** Milliseconds between two looks while a worker pulls and pushes. */
const WORKING_MS = 1_500;

/** The git repository of the workspace: how far it is in step, and what others changed in it. */
export function RepositorySection(props: { ws: string; admin: boolean; editor: boolean }) {
  const { admin, editor, ws } = props;
  const [binding, setBinding] = useState(false);
  const key = ["repository", ws];
  const query = useQuery({
    queryKey: key,
    queryFn: () => getRepository(ws),
    refetchInterval: ({ state }) => (state.data?.repository?.working ? WORKING_MS : false),
  });
  const found = query.data;
  const repository = found?.repository ?? null;
  return (
    <section className={classes.section} data-testid="repository">
      <Head
        title="Git"
        about={t({
          id: "git.each_saved_version_becomes_commit",
          message: "Each saved version becomes a commit of its document, program and tests.",
        })}
      >
        {admin && found !== undefined && found.roots.length > 0 && repository !== null ? (
          <Button onClick={() => setBinding(true)}>{t("Change…")}</Button>
        ) : null}
      </Head>
      <Waiting query={query} />
      {found === undefined ? null : repository === null ? (
        <Unbound state={found} admin={admin} onBind={() => setBinding(true)} />
      ) : (
        <Bound ws={ws} repository={repository} admin={admin} editor={editor} />
      )}
      {binding && found !== undefined ? (
        <BindDialog ws={ws} state={found} onClose={() => setBinding(false)} />
      ) : null}
    </section>
  );
}

function Unbound(props: { state: RepositoryState; admin: boolean; onBind: () => void }) {
  if (props.state.roots.length === 0) {
    return (
      <div className={classes.card}>
        <Empty title={t("This installation permits no git repositories")}>
          {t("Its admin lists folders and URLs in the setting {name}.", {
            name: "MILLRACE_GIT_ROOTS",
          })}
        </Empty>
      </div>
    );
  }
  return (
    <div className={classes.card}>
      <Empty
        title={t("No repository yet")}
        action={
          props.admin ? (
            <Button onClick={props.onBind} data-testid="bind">
              {t("Choose a repository…")}
            </Button>
          ) : undefined
        }
      >
        {props.admin
          ? t("Choose a folder or a URL with a git repository.")
          : t("An admin of this workspace can choose one.")}
      </Empty>
    </div>
  );
}

function Bound(props: { ws: string; repository: Repository; admin: boolean; editor: boolean }) {
  const { admin, editor, repository, ws } = props;
  const queries = useQueryClient();
  const key = ["repository", ws];
  const sync = useMutation({
    mutationFn: (accept: boolean) => syncRepository(ws, accept),
    onSuccess: (state) => queries.setQueryData(key, state),
    onError: (error) => notifyError(error),
  });
  const unbind = useMutation({
    mutationFn: () => unbindRepository(ws),
    onSettled: () => queries.invalidateQueries({ queryKey: key }),
    onError: (error) => notifyError(error),
  });
  const { failure } = repository;
  const busy = repository.working || sync.isPending;
  return (
    <div className={own.bound}>
      <div className={own.card}>
        <div className={own.where}>
          <span className={`${own.url} m-cut`} title={repository.url}>
            {repository.url}
          </span>
          <span className={classes.faint}>
            {[
              repository.review
                ? t("branches for review, beside {branch}", { branch: repository.branch })
                : t("branch {branch}", { branch: repository.branch }),
              ...(repository.folder === ""
                ? []
                : [t("folder {folder}", { folder: repository.folder })]),
            ].join(" · ")}
          </span>
        </div>
        <Step repository={repository} busy={busy} />
        {editor ? (
          <Button
            variant="filled"
            loading={busy}
            onClick={() => sync.mutate(false)}
            data-testid="sync"
          >
            {t("Pull and push")}
          </Button>
        ) : null}
        {admin ? (
          <Confirm
            title={t("Remove…")}
            question={t({
              id: "git.versions_do_not_become_commits",
              message: "Versions do not become commits any more. The repository is kept.",
            })}
            action={t("Remove the repository")}
            busy={unbind.isPending}
            onConfirm={() => unbind.mutate()}
            testId="unbind"
          />
        ) : null}
      </div>
      {failure === null ? null : (
        <Note tone="failed">
          {failureText(failure)}
          {repository.retry_at === null ? null : (
            <> {t("Next attempt at {time}.", { time: nextAt(repository.retry_at) })}</>
          )}
          {failure.code === "git_history" && editor ? (
            <div className={own.action}>
              <Button loading={busy} onClick={() => sync.mutate(true)} data-testid="accept-history">
                {t("Accept the new history")}
              </Button>
            </div>
          ) : null}
        </Note>
      )}
      {repository.refused.map((each) => (
        <Note key={each.name} tone="degraded">
          <strong>{each.topology_name}</strong>: {failureText(each.failure)}
        </Note>
      ))}
      <Changes
        ws={ws}
        editor={editor}
        asOf={`${repository.head} ${repository.checked_at} ${repository.waiting}`}
      />
    </div>
  );
}

/** A time to the second. */
const nextAt = (at: string) => briefTime(Math.ceil(Date.parse(at) / 1_000) * 1_000);

function Step({ busy, repository }: { busy: boolean; repository: Repository }) {
  const { checked_at, failure, waiting } = repository;
  const state = busy
    ? "starting"
    : failure !== null
      ? "failed"
      : waiting > 0
        ? "degraded"
        : "running";
  const words = busy
    ? t("working…")
    : waiting > 0
      ? t(
          {
            id: "git.not_committed_yet",
            message: "{n} {n, plural, one {version} other {versions}} not committed yet",
          },
          { n: waiting },
        )
      : failure !== null
        ? t("not reachable")
        : t("up to date");
  return (
    <span className={own.step} data-testid="repository-state" data-state={state} role="status">
      <StateDot state={state} />
      {words}
      {checked_at === null ? null : (
        <span className={classes.faint} title={checked_at}>
          {t("pulled {when}", { when: ago(checked_at) })}
        </span>
      )}
    </span>
  );
}
