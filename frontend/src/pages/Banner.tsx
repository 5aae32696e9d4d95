import { Button } from "@mantine/core";
import IconCloudOff from "@tabler/icons-react/dist/esm/icons/IconCloudOff.mjs";
import IconEyeOff from "@tabler/icons-react/dist/esm/icons/IconEyeOff.mjs";
import IconInfoCircle from "@tabler/icons-react/dist/esm/icons/IconInfoCircle.mjs";
import { getVersion } from "../api/calls";
import { t } from "../app/phrases";
import { tellError } from "../app/tell";
import { FailureNote } from "../deployments/FailureNote";
import { useLive } from "../runtime/store";
import { useNow } from "../runtime/useNow";
import { Note } from "../ui";
import { hour, span } from "../ui/format";
import { takeTheirs, useEditing } from "./editing";
import classes from "./header.module.css";

/** What concerns the whole topology and cannot wait: a failure, someone's newer version, a draft that is not saved. */
export function Banner({ editor }: { editor: boolean }) {
  const deployment = useLive((state) => state.deployment);
  const foreign = useLive((state) => state.newestVersion);
  const { baseVersion, draft, changed, topology, saving } = useEditing();
  const now = useNow(deployment?.observed === "unknown" ? 1_000 : null);
  const newer = !saving && foreign !== null && foreign > (baseVersion ?? 0);
  const failed = deployment?.observed === "failed" && deployment.failure !== null;

  const take = async () => {
    if (topology === null || foreign === null) return;
    try {
      takeTheirs(await getVersion(topology, foreign));
    } catch (error) {
      tellError(error);
    }
  };

  if (draft === "failed") {
    return (
      <div className={classes.banner}>
        <Note
          tone="degraded"
          icon={<IconCloudOff size={16} stroke={1.5} style={{ flex: "none" }} />}
        >
          {t(
            "Your last changes are not on the server yet. It is tried again by itself; keep this page open.",
          )}
        </Note>
      </div>
    );
  }
  if (failed && deployment.failure !== null) {
    return (
      <div className={classes.banner}>
        <FailureNote failure={deployment.failure} />
      </div>
    );
  }
  if (deployment?.observed === "unknown") {
    return (
      <div className={classes.banner}>
        <Note tone="degraded" icon={<IconEyeOff size={16} stroke={1.5} style={{ flex: "none" }} />}>
          <span data-testid="unseen">
            {t(
              "No worker has looked after this deployment since {time}, for {ago}. What is shown is how it was then; it comes back by itself.",
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
