import { Button } from "@mantine/core";
import IconCloudOff from "@tabler/icons-react/dist/esm/icons/IconCloudOff.mjs";
import IconEyeOff from "@tabler/icons-react/dist/esm/icons/IconEyeOff.mjs";
import IconHeartbeat from "@tabler/icons-react/dist/esm/icons/IconHeartbeat.mjs";
import IconInfoCircle from "@tabler/icons-react/dist/esm/icons/IconInfoCircle.mjs";
import { type ReactNode, Suspense } from "react";
import { describeCause } from "../api/prose";
import { getVersion } from "../api/topologyCalls";
import { FailureNote } from "../deployments/FailureNote";
import { OutageNote } from "../deployments/OutageNote";
import { notifyError } from "../frame/notify";
import { useLive } from "../live/store";
import { useNow } from "../live/useNow";
import { Note } from "../ui";
import { hour, span } from "../ui/format";
import { t } from "../ui/i18n";
import { later } from "../ui/later";
import { resolveDraft, takeTheirs, useEditing } from "../versions/editing";
import classes from "./header.module.css";

const GoneNote = later(async () => (await import("./GoneNote")).GoneNote);

/** The most urgent message about the topology: a failure, someone else's newer version, an unsaved draft. */
export function Banner({ editor }: { editor: boolean }) {
  const found = useFound(editor);
  return found === null ? null : <div>{found}</div>;
}

function note(tone: "accent" | "degraded", Icon: typeof IconCloudOff, children: ReactNode) {
  return (
    <Note tone={tone} icon={<Icon size={16} stroke={1.5} style={{ flex: "none" }} />}>
      {children}
    </Note>
  );
}

/** The most urgent message; null if there is none. */
function useFound(editor: boolean): ReactNode {
  const deployment = useLive((state) => state.deployment);
  const foreign = useLive((state) => state.newestVersion);
  const deleted = useLive((state) => state.deleted);
  const { baseVersion, draft, changed, refusal, topology, saving } = useEditing();
  const now = useNow(deployment?.observed === "unknown" ? 1_000 : null);
  const newer = !saving && foreign !== null && foreign > (baseVersion ?? 0);
  // After a fallback, the deployment runs again, but the newer version's failure stays visible.
  const failed = deployment?.observed === "failed" || deployment?.failure?.code === "fell_back";

  const take = async () => {
    if (topology === null || foreign === null) return;
    try {
      takeTheirs(await getVersion(topology, foreign));
    } catch (error) {
      notifyError(error);
    }
  };

  if (deleted || (draft === "failed" && refusal?.status === 404)) {
    return (
      <Suspense fallback={null}>
        {note("degraded", IconCloudOff, <GoneNote editor={editor} />)}
      </Suspense>
    );
  }
  if (draft === "conflict") {
    const choose = (side: "mine" | "theirs") => void resolveDraft(side).catch(notifyError);
    return note(
      "degraded",
      IconCloudOff,
      <span className={classes.bannerLine} data-testid="draft-conflict">
        {t({
          id: "pages.you_changed_this_draft",
          message:
            "You changed this draft in another window as well. Nothing is sent until you choose; the other draft stays in the undo history.",
        })}
        <Button variant="subtle" onClick={() => choose("mine")}>
          {t("Keep this one")}
        </Button>
        <Button variant="subtle" onClick={() => choose("theirs")}>
          {t("Take the other one")}
        </Button>
      </span>,
    );
  }
  if (draft === "failed") {
    return note(
      "degraded",
      IconCloudOff,
      <span>
        {refusal === null ? null : `${refusal.text} `}
        {t({
          id: "pages.your_last_changes_are_not",
          message:
            "Your last changes are not saved yet. Saving is retried automatically; keep this page open.",
        })}
      </span>,
    );
  }
  if (failed && deployment.failure) return <FailureNote failure={deployment.failure} />;
  if (deployment?.outage) return <OutageNote outage={deployment.outage} />;
  if (deployment?.observed === "degraded") {
    return note(
      "degraded",
      IconHeartbeat,
      <span data-testid="degraded">
        {deployment.failure === null ? null : describeCause(deployment.failure)}{" "}
        {t(
          {
            id: "pages.degraded_since_driver_is_restarted",
            message: "Degraded since {time}. The driver is restarted if it does not respond.",
          },
          {
            time: hour(deployment.since),
          },
        )}
      </span>,
    );
  }
  if (deployment?.observed === "unknown") {
    return note(
      "degraded",
      IconEyeOff,
      <span data-testid="unseen">
        {t(
          {
            id: "pages.no_heartbeat_from_worker",
            message:
              "No heartbeat from a worker since {time} ({ago} ago). The last known state is shown; it updates when a worker is back.",
          },
          {
            time: hour(deployment.since),
            ago: span(Math.max(0, now - Date.parse(deployment.since))),
          },
        )}
      </span>,
    );
  }
  if (!newer) return null;
  return note(
    "accent",
    IconInfoCircle,
    <span className={classes.bannerLine}>
      {t("Version {n} was saved elsewhere.", { n: foreign })}
      {editor && !changed ? (
        <Button variant="subtle" onClick={() => void take()}>
          {t("Show it")}
        </Button>
      ) : null}
    </span>,
  );
}
