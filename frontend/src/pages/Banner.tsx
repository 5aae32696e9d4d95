import { Button } from "@mantine/core";
import IconCloudOff from "@tabler/icons-react/dist/esm/icons/IconCloudOff.mjs";
import IconEyeOff from "@tabler/icons-react/dist/esm/icons/IconEyeOff.mjs";
import IconHeartbeat from "@tabler/icons-react/dist/esm/icons/IconHeartbeat.mjs";
import IconInfoCircle from "@tabler/icons-react/dist/esm/icons/IconInfoCircle.mjs";
import { getVersion } from "../api/topologyCalls";
import { notifyError } from "../app/notify";
import { FailureNote } from "../deployments/FailureNote";
import { OutageNote } from "../deployments/OutageNote";
import { useLive } from "../runtime/store";
import { useNow } from "../runtime/useNow";
import { Note } from "../ui";
import { hour, span } from "../ui/format";
import { t } from "../ui/i18n";
import { resolveDraft, takeTheirs, useEditing } from "../versions/editing";
import classes from "./header.module.css";

/** What concerns the whole topology and cannot wait: a failure, someone's newer version, a draft that is not saved. */
export function Banner({ editor }: { editor: boolean }) {
  const deployment = useLive((state) => state.deployment);
  const foreign = useLive((state) => state.newestVersion);
  const { baseVersion, draft, changed, topology, saving } = useEditing();
  const now = useNow(deployment?.observed === "unknown" ? 1_000 : null);
  const newer = !saving && foreign !== null && foreign > (baseVersion ?? 0);
  // A version that fell back runs again, and why the newer one does not stays to be seen.
  const failed = deployment?.observed === "failed" || deployment?.failure?.code === "fell_back";

  const take = async () => {
    if (topology === null || foreign === null) return;
    try {
      takeTheirs(await getVersion(topology, foreign));
    } catch (error) {
      notifyError(error);
    }
  };

  if (draft === "conflict") {
    const choose = (side: "mine" | "theirs") => void resolveDraft(side).catch(notifyError);
    return (
      <div className={classes.banner}>
        <Note
          tone="degraded"
          icon={<IconCloudOff size={16} stroke={1.5} style={{ flex: "none" }} />}
        >
          <span className={classes.bannerLine} data-testid="draft-conflict">
            {t(
              "You changed this draft in another window as well. Nothing is sent until you choose; the other draft stays in the undo history.",
            )}
            <Button variant="subtle" onClick={() => choose("mine")}>
              {t("Keep this one")}
            </Button>
            <Button variant="subtle" onClick={() => choose("theirs")}>
              {t("Take the other one")}
            </Button>
          </span>
        </Note>
      </div>
    );
  }
  if (draft === "failed") {
    return (
      <div className={classes.banner}>
        <Note
          tone="degraded"
          icon={<IconCloudOff size={16} stroke={1.5} style={{ flex: "none" }} />}
        >
          {t(
            "Your last changes are not saved yet. Saving is retried automatically; keep this page open.",
          )}
        </Note>
      </div>
    );
  }
  if (failed && deployment.failure) {
    return (
      <div className={classes.banner}>
        <FailureNote failure={deployment.failure} />
      </div>
    );
  }
  if (deployment?.outage) {
    return (
      <div className={classes.banner}>
        <OutageNote outage={deployment.outage} />
      </div>
    );
  }
  if (deployment?.observed === "degraded") {
    return (
      <div className={classes.banner}>
        <Note
          tone="degraded"
          icon={<IconHeartbeat size={16} stroke={1.5} style={{ flex: "none" }} />}
        >
          <span data-testid="degraded">
            {deployment.failure?.message}{" "}
            {t("Degraded since {time}. The driver is restarted if it does not respond.", {
              time: hour(deployment.since),
            })}
          </span>
        </Note>
      </div>
    );
  }
  if (deployment?.observed === "unknown") {
    return (
      <div className={classes.banner}>
        <Note tone="degraded" icon={<IconEyeOff size={16} stroke={1.5} style={{ flex: "none" }} />}>
          <span data-testid="unseen">
            {t(
              "No heartbeat from a worker since {time} ({ago} ago). The last known state is shown; it updates when a worker is back.",
              {
                time: hour(deployment.since),
                ago: span(Math.max(0, now - Date.parse(deployment.since))),
              },
            )}
          </span>
        </Note>
      </div>
    );
  }
  if (newer) {
    return (
      <div className={classes.banner}>
        <Note
          tone="accent"
          icon={<IconInfoCircle size={16} stroke={1.5} style={{ flex: "none" }} />}
        >
          <span className={classes.bannerLine}>
            {t("Version {n} was saved elsewhere.", { n: foreign })}
            {editor && !changed ? (
              <Button variant="subtle" onClick={() => void take()}>
                {t("Show it")}
              </Button>
            ) : null}
          </span>
        </Note>
      </div>
    );
  }
  return null;
}
