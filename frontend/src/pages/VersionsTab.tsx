import { ActionIcon, Button, Menu } from "@mantine/core";
import IconArrowBackUp from "@tabler/icons-react/dist/esm/icons/IconArrowBackUp.mjs";
import IconCheck from "@tabler/icons-react/dist/esm/icons/IconCheck.mjs";
import IconDots from "@tabler/icons-react/dist/esm/icons/IconDots.mjs";
import IconDownload from "@tabler/icons-react/dist/esm/icons/IconDownload.mjs";
import IconFileImport from "@tabler/icons-react/dist/esm/icons/IconFileImport.mjs";
import IconGitCompare from "@tabler/icons-react/dist/esm/icons/IconGitCompare.mjs";
import IconRocket from "@tabler/icons-react/dist/esm/icons/IconRocket.mjs";
import { useQuery } from "@tanstack/react-query";
import { Suspense, useState } from "react";
import { getRules } from "../api/accountCalls";
import { approveVersion, downloadExport, listVersions } from "../api/topologyCalls";
import type { VersionSummary } from "../api/types";
import { redeployWithPlan } from "../deployments/change";
import { openTestsIfMissing } from "../deployments/openTests";
import { notify, notifyError } from "../frame/notify";
import { useSession } from "../frame/session";
import { Waiting } from "../frame/Waiting";
import { StatePill } from "../live/StatePill";
import { useLive } from "../live/store";
import { useShownState } from "../live/useShownState";
import { Chip, Empty } from "../ui";
import { save } from "../ui/files";
import { ago, moment } from "../ui/format";
import { t } from "../ui/i18n";
import { later } from "../ui/later";
import { openImport, openSave, restoreVersion, useEditing } from "../versions/editing";
import classes from "./versions.module.css";

const CompareDialog = later(async () => (await import("./CompareDialog")).CompareDialog);

interface VersionsTabProps {
  topology: number;
  editor: boolean;
  operator: boolean;
}

/** All versions, the newest first; each can be restored, compared, exported and deployed. */
export function VersionsTab({ topology, editor, operator }: VersionsTabProps) {
  const { baseVersion, changed, name, ws } = useEditing();
  const me = useSession().data?.user?.id;
  const foreign = useLive((state) => state.newestVersion);
  const approvals = useLive((state) => state.approvals);
  const rules = useQuery({ queryKey: ["rules", ws], queryFn: () => getRules(ws) });
  const deployment = useLive((live) => live.deployment);
  const state = useShownState();
  const [comparing, setComparing] = useState<number | null>(null);
  const versions = useQuery({
    // Refetched after each save, by anyone.
    queryKey: ["versions", topology, baseVersion, foreign, approvals],
    queryFn: () => listVersions(topology),
    placeholderData: (before) => before,
  });

  const restore = async (version: VersionSummary) => {
    try {
      await restoreVersion(version);
      notify(t("The topology is version {n} again. Save it to keep it.", { n: version.number }));
    } catch (error) {
      notifyError(error, t("Could not restore"));
    }
  };
  const approved = (version: VersionSummary) =>
    version.approved_by.some((each) => each.user_id === me);
  const approve = async (version: VersionSummary, wanted: boolean) => {
    try {
      await approveVersion(topology, version.number, wanted);
      await versions.refetch();
    } catch (error) {
      notifyError(error);
    }
  };
  const download = async (version: VersionSummary) => {
    try {
      const zip = await downloadExport(topology, version.number);
      save(`${name}-v${version.number}.zip`, zip);
    } catch (error) {
      notifyError(error, t("Could not export"));
    }
  };
  const deploy = async (version: VersionSummary) => {
    if (deployment === null) return;
    try {
      const data = await redeployWithPlan(deployment.id, version.number, null, {
        always: true,
      });
      if (data === null) return;
      useLive.getState().receive({ type: "deployment.changed", data });
    } catch (error) {
      openTestsIfMissing(error);
      notifyError(error, t("Could not deploy"));
    }
  };

  if (versions.isPending || versions.isError) return <Waiting query={versions} />;
  const list = versions.data;
  return (
    <div className={`${classes.tab} m-scroll`} data-testid="versions">
      {changed ? (
        <div className={classes.draft}>
          <span>
            <strong>{t("Draft")}</strong>
            <span className={classes.note}>
              {baseVersion === null
                ? t("not saved as a version yet")
                : t("changes since version {n}", { n: baseVersion })}
            </span>
          </span>
          {editor ? <Button onClick={openSave}>{t("Save…")}</Button> : null}
        </div>
      ) : null}
      {editor ? (
        <Button
          className={classes.import}
          leftSection={<IconFileImport size={16} stroke={1.5} />}
          onClick={openImport}
          title={t("Import a document or a program…")}
          data-testid="import"
        >
          {t("Import…")}
        </Button>
      ) : null}
      {list.length === 0 && !changed ? (
        <Empty title={t("No versions yet")}>
          {t({
            id: "pages.each_saved_version_keeps",
            message: "Each saved version keeps the whole topology, with your message.",
          })}
        </Empty>
      ) : null}
      <ol className={classes.list}>
        {list.map((version) => (
          <li
            key={version.number}
            className={classes.version}
            data-testid={`version-${version.number}`}
          >
            <div className={classes.head}>
              <strong>{t("v{n}", { n: version.number })}</strong>
              {deployment?.version === version.number && state !== null ? (
                <StatePill state={state} />
              ) : null}
              <Menu position="bottom-end" width={210}>
                <Menu.Target>
                  <ActionIcon
                    size={22}
                    aria-label={t("Actions for version {n}", { n: version.number })}
                  >
                    <IconDots size={16} stroke={1.5} />
                  </ActionIcon>
                </Menu.Target>
                <Menu.Dropdown>
                  {editor ? (
                    <Menu.Item
                      leftSection={<IconArrowBackUp size={16} stroke={1.5} />}
                      onClick={() => void restore(version)}
                    >
                      {t("Restore")}
                    </Menu.Item>
                  ) : null}
                  <Menu.Item
                    leftSection={<IconGitCompare size={16} stroke={1.5} />}
                    onClick={() => setComparing(version.number)}
                  >
                    {t("Compare with the drawing")}
                  </Menu.Item>
                  <Menu.Item
                    leftSection={<IconDownload size={16} stroke={1.5} />}
                    onClick={() => void download(version)}
                  >
                    {t("Export as zip")}
                  </Menu.Item>
                  {operator && rules.data?.approval_required && version.author_id !== me ? (
                    <Menu.Item
                      leftSection={<IconCheck size={16} stroke={1.5} />}
                      onClick={() => void approve(version, !approved(version))}
                    >
                      {approved(version) ? t("Withdraw the approval") : t("Approve")}
                    </Menu.Item>
                  ) : null}
                  {operator && deployment !== null ? (
                    <Menu.Item
                      leftSection={<IconRocket size={16} stroke={1.5} />}
                      disabled={
                        deployment.version === version.number && deployment.desired === "running"
                      }
                      onClick={() => void deploy(version)}
                    >
                      {t("Deploy this version…")}
                    </Menu.Item>
                  ) : null}
                </Menu.Dropdown>
              </Menu>
            </div>
            {version.approved_by.length === 0 ? null : (
              <Chip tone="running">
                {t("approved by {names}", {
                  names: version.approved_by.map((each) => each.name).join(", "),
                })}
              </Chip>
            )}
            <p className={classes.message}>{version.message || t("no message")}</p>
            <span className={classes.note}>
              <time title={moment(version.created_at)}>{ago(version.created_at)}</time>
              {[version.author, version.commit?.slice(0, 10)]
                .filter(Boolean)
                .map((each) => ` · ${each}`)}
            </span>
          </li>
        ))}
      </ol>
      {comparing === null ? null : (
        <Suspense fallback={null}>
          <CompareDialog
            topology={topology}
            version={comparing}
            versions={list}
            onClose={() => setComparing(null)}
          />
        </Suspense>
      )}
    </div>
  );
}
