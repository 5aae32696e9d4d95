import { ActionIcon, Button, Menu } from "@mantine/core";
import IconArrowsDiff from "@tabler/icons-react/dist/esm/icons/IconArrowsDiff.mjs";
import IconCalendar from "@tabler/icons-react/dist/esm/icons/IconCalendarTime.mjs";
import IconCpu from "@tabler/icons-react/dist/esm/icons/IconCpu.mjs";
import IconDots from "@tabler/icons-react/dist/esm/icons/IconDots.mjs";
import IconPlayerPause from "@tabler/icons-react/dist/esm/icons/IconPlayerPause.mjs";
import IconPlayerPlay from "@tabler/icons-react/dist/esm/icons/IconPlayerPlay.mjs";
import IconPlayerStop from "@tabler/icons-react/dist/esm/icons/IconPlayerStop.mjs";
import IconReload from "@tabler/icons-react/dist/esm/icons/IconReload.mjs";
import IconTrash from "@tabler/icons-react/dist/esm/icons/IconTrash.mjs";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { ApiError } from "../api/client";
import type { DeploymentAction } from "../api/deploymentCalls";
import type { Deployment, Observed } from "../api/types";
import { useView } from "../designer/view";
import { notifyError } from "../frame/notify";
import { isPlain } from "../live/dialect";
import { known, millis } from "../live/figures";
import { StatePill } from "../live/StatePill";
import { hasDriver, isAtRest, isMoving, versionOf } from "../live/states";
import { useLive } from "../live/store";
import { useNow } from "../live/useNow";
import { ago, hour, moment, span } from "../ui/format";
import { t } from "../ui/i18n";
import { act } from "./acting";
import { DeploymentSteps } from "./DeploymentSteps";
import classes from "./deployments.module.css";
import { jvmOf, sharesJvm } from "./jvm";
import { missedText, nextText, openSchedule, timesText } from "./schedule";
import { standbyOf } from "./standby";
import { hideSteps, openDelete, openScale, openShadow, openStart, totalOf } from "./steps";

/** The state of the deployment and the actions on it. */
export function DeploymentCard(props: {
  deployment: Deployment;
  state: Observed;
  operator: boolean;
}) {
  const { deployment, state } = props;
  const connection = useLive((live) => live.connection);
  const total = totalOf(deployment);
  return (
    <>
      <div className={classes.cardHead}>
        <StatePill
          state={state}
          version={versionOf(deployment)}
          waiting={deployment.outage !== null}
        />
        <span className={classes.cardNote}>
          {state === "unknown" && deployment.observed === "unknown"
            ? t("since {time}", { time: hour(deployment.since) })
            : total === null || deployment.observed !== "running"
              ? t("on this machine")
              : t("on this machine · up in {time}", { time: span(total) })}
        </span>
      </div>
      {connection === "lost" ? (
        <p className={classes.cardLine}>
          {t({
            id: "deployments.server_cannot_be_reached",
            message:
              "The server cannot be reached, so the current state is unknown. Retrying automatically.",
          })}
        </p>
      ) : null}
      {deployment.draining ? (
        <p className={classes.cardLine} data-testid="draining">
          {t("Reads up to the current end of its topics, then stops.")}
        </p>
      ) : null}
      {state === "asleep" ? (
        <p className={classes.cardLine} data-testid="asleep">
          {t({
            id: "deployments.no_records_for_while",
            message:
              "No records for a while: the query has ended, and the next record starts it again.",
          })}
        </p>
      ) : null}
      {state === "paused" ? (
        <p className={classes.cardLine}>
          {t("The driver is ready and reads nothing until it is resumed.")}
        </p>
      ) : null}
      {isPlain(deployment.settings) ? (
        <p className={classes.cardLine} data-testid="runs-plain">
          {t({
            id: "deployments.plain_pyspark_it_cannot",
            message:
              "Plain PySpark: it cannot be compared with another version, and another start position needs empty stores.",
          })}
        </p>
      ) : null}
      <DeploymentSteps deployment={deployment} />
      {deployment.run === null ? null : <RunLine deployment={deployment} />}
      {deployment.schedule === null ? null : (
        <ScheduleLine schedule={deployment.schedule} operator={props.operator} />
      )}
      {props.operator ? <Actions deployment={deployment} /> : null}
    </>
  );
}

function RunLine({ deployment }: { deployment: Deployment }) {
  const now = useNow(1_000);
  const { run } = deployment;
  if (run === null) return null;
  const started = millis(run.started_at);
  const jvm = jvmOf(run);
  const standby = standbyOf(deployment);
  return (
    <dl className={classes.run}>
      <dt>{t("Driver")}</dt>
      <dd className="m-mono" data-testid="driver-pid">
        {known(run.pid, (pid) => t("process {pid}", { pid }))}
        {run.host === null ? null : ` · ${run.host}`}
      </dd>
      {jvm === null ? null : (
        <>
          <dt>{t("JVM")}</dt>
          <dd data-testid="driver-jvm">{jvm}</dd>
        </>
      )}
      {standby === null ? null : (
        <>
          <dt>{t("Standby")}</dt>
          <dd data-testid="standby">{standby}</dd>
        </>
      )}
      <dt>{t("Started")}</dt>
      <dd title={started === null ? undefined : moment(started)}>
        {known(started, (at) => ago(at, now))}
        {run.restarts > 0 ? (
          <span className={classes.restarts}>
            {" · "}
            {t("{n} {n, plural, one {restart} other {restarts}}", { n: run.restarts })}
          </span>
        ) : null}
      </dd>
    </dl>
  );
}

/** Schedules are applied once a minute. */
const SOON_MS = 60_000;

/** When the deployment runs, what comes next, and why the last time was missed. */
function ScheduleLine(props: { schedule: NonNullable<Deployment["schedule"]>; operator: boolean }) {
  const { schedule } = props;
  const now = useNow(10_000);
  const next = millis(schedule.next_at);
  const { failure } = schedule;
  return (
    <div className={classes.schedule} data-testid="schedule-line">
      <IconCalendar size={16} stroke={1.5} aria-hidden />
      <div>
        <span>{timesText(schedule.times)}</span>{" "}
        <span className={classes.cardNote}>{schedule.zone}</span>
        {next === null ? null : (
          <p className={classes.cardNote} title={moment(next)}>
            {nextText(schedule)} {next - now < SOON_MS ? t("within a minute") : ago(next, now)}
          </p>
        )}
        {failure === null ? null : (
          <p className={classes.missed}>
            {missedText(schedule)}{" "}
            {new ApiError(409, { error: { ...failure, ...failure.facts } }).text}
            {props.operator ? (
              <Button variant="subtle" size="compact-xs" onClick={setAgain}>
                {t("Schedule…")}
              </Button>
            ) : null}
          </p>
        )}
      </div>
    </div>
  );
}

function setAgain(): void {
  hideSteps();
  openSchedule(true);
}

/** The menu of rarer actions, the last of which open the schedule and delete a deployment at rest. */
function MoreActions({ children, deletable }: { children?: ReactNode; deletable?: boolean }) {
  return (
    <Menu position="bottom-start" width={250} withinPortal={false}>
      <Menu.Target>
        <ActionIcon size={30} aria-label={t("More actions")} data-testid="more-actions">
          <IconDots size={16} stroke={1.5} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {children}
        <Menu.Item
          leftSection={<IconCalendar size={16} stroke={1.5} />}
          onClick={setAgain}
          data-testid="schedule-open"
        >
          {t("Schedule…")}
        </Menu.Item>
        {deletable === undefined ? null : (
          <>
            <Menu.Divider />
            <Menu.Item
              color="red"
              leftSection={<IconTrash size={16} stroke={1.5} />}
              disabled={!deletable}
              onClick={() => {
                hideSteps();
                openDelete(true);
              }}
              data-testid="delete-deployment"
            >
              {t("Delete the deployment…")}
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

function Actions({ deployment }: { deployment: Deployment }) {
  const [busy, setBusy] = useState<string | null>(null);
  const alive = useRef(true);
  useEffect(() => {
    alive.current = true;
    return () => {
      alive.current = false;
    };
  }, []);
  const run = async (action: DeploymentAction) => {
    setBusy(action);
    try {
      await act(action);
    } catch (error) {
      notifyError(error);
    } finally {
      if (alive.current) setBusy(null);
    }
  };
  const up = deployment.desired === "running";
  const plain = isPlain(deployment.settings);
  const button = (action: DeploymentAction, Icon: typeof IconReload, text: string, off = false) => (
    <Button
      leftSection={<Icon size={16} stroke={1.5} />}
      loading={busy === action}
      disabled={off}
      onClick={() => void run(action)}
      data-testid={action}
    >
      {text}
    </Button>
  );
  return (
    <div className={classes.actions}>
      {up && deployment.observed !== "failed" ? (
        <>
          {button("stop", IconPlayerStop, t("Stop"))}
          {deployment.paused
            ? button("resume", IconPlayerPlay, t("Resume"))
            : button("pause", IconPlayerPause, t("Pause"))}
          {button("restart", IconReload, t("Restart"), isMoving(deployment.observed))}
          <MoreActions>
            <Menu.Item
              leftSection={<IconPlayerStop size={16} stroke={1.5} />}
              disabled={!hasDriver(deployment.observed)}
              onClick={() => void run("drain")}
              data-testid="drain"
            >
              {t("Drain and stop")}
            </Menu.Item>
            {sharesJvm(deployment.settings) ? null : (
              <Menu.Item
                leftSection={<IconCpu size={16} stroke={1.5} />}
                disabled={!hasDriver(deployment.observed)}
                onClick={() => {
                  hideSteps();
                  openScale(true);
                }}
                data-testid="scale-open"
              >
                {t("Threads and memory…")}
              </Menu.Item>
            )}
            {plain ? null : (
              <Menu.Item
                leftSection={<IconArrowsDiff size={16} stroke={1.5} />}
                onClick={() => {
                  hideSteps();
                  openShadow(true);
                }}
                data-testid="shadow-open"
              >
                {t("Compare with another version…")}
              </Menu.Item>
            )}
          </MoreActions>
        </>
      ) : deployment.draining ? (
        button("stop", IconPlayerStop, t("Stop now"))
      ) : (
        button(
          "start",
          IconPlayerPlay,
          t("Start v{n}", { n: deployment.version }),
          deployment.observed === "stopping",
        )
      )}
      {up && deployment.observed !== "failed" ? null : (
        <Button
          disabled={deployment.observed === "stopping"}
          onClick={() => {
            hideSteps();
            openStart(true);
          }}
          data-testid="start-from"
        >
          {t("Start from…")}
        </Button>
      )}
      {up && deployment.observed !== "failed" ? null : (
        <MoreActions deletable={isAtRest(deployment.observed)} />
      )}
      {up && deployment.fallback !== null ? (
        <Button
          loading={busy === "cancel"}
          onClick={() => void run("cancel")}
          data-testid="cancel-change"
        >
          {t("Continue with v{n}", { n: deployment.fallback })}
        </Button>
      ) : null}
      <span className="ui-space" />
      {(["logs", "runs"] as const).map((tab) => (
        <Button
          key={tab}
          variant="subtle"
          px={8}
          onClick={() => {
            hideSteps();
            useView.getState().openBottom(tab);
          }}
        >
          {tab === "logs" ? t("Logs") : t("Runs")}
        </Button>
      ))}
    </div>
  );
}
