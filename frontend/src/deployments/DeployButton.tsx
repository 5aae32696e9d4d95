import { ActionIcon, Button, Popover } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import IconChevronDown from "@tabler/icons-react/dist/esm/icons/IconChevronDown.mjs";
import { Suspense, useEffect, useRef, useState } from "react";
import type { DeploymentSettings } from "../api/types";
import { useDesigner } from "../designer/store";
import { Loading } from "../frame/Loading";
import { isPlain } from "../live/dialect";
import { useIsKnown } from "../live/NeverDeployed";
import { useLive } from "../live/store";
import { Tip } from "../ui";
import { t } from "../ui/i18n";
import { later } from "../ui/later";
import { useEscape } from "../ui/useEscape";
import { useEditing } from "../versions/editing";
import { type Beginning, CONTINUES, continues, problemOf, requestOf } from "./beginning";
import { deployNow } from "./deploy";
import classes from "./deployments.module.css";
import { placeProblem } from "./place";
import { beginsAnew } from "./start";
import { useQuestion } from "./topics";

const DeployOptions = later(async () => (await import("./DeployOptions")).DeployOptions);
const Promotions = later(async () => (await import("./Promotions")).Promotions);
const TopicsDialog = later(async () => (await import("./TopicsDialog")).TopicsDialog);

/** "Deploy v7" with its options behind the arrow. */
export function DeployButton({ allowed }: { allowed: boolean }) {
  const { changed, baseVersion, deploying } = useEditing();
  const deployment = useLive((state) => state.deployment);
  const empty = useDesigner((state) => state.document.nodes.length === 0);
  const [opened, options] = useDisclosure(false);
  const arrow = useRef<HTMLButtonElement>(null);
  const main = useRef<HTMLButtonElement>(null);
  // The button is disabled while deploying and loses the focus; return it afterwards.
  useEffect(() => {
    if (!deploying) return;
    return () => {
      setTimeout(() => {
        if (document.activeElement === document.body) main.current?.focus({ preventScroll: true });
      });
    };
  }, [deploying]);
  useEscape(opened, options.close, arrow);
  const question = useQuestion((state) => state.question);
  const [settings, setSettings] = useState<DeploymentSettings | null>(null);
  const [beginning, setBeginning] = useState<Beginning>(CONTINUES);
  const next = changed || baseVersion === null ? (baseVersion ?? 0) + 1 : baseVersion;
  const current =
    deployment !== null &&
    deployment.desired === "running" &&
    deployment.observed !== "failed" &&
    deployment.version === baseVersion &&
    !changed;
  const several = useLive((state) => state.deployments.length > 1);
  const environment = several ? deployment?.settings.environment : undefined;
  const deploys =
    changed || baseVersion === null ? t("Save and deploy") : t("Deploy v{n}", { n: next });
  const title = environment === undefined ? deploys : `${deploys} · ${environment}`;
  const reason = !allowed
    ? t("Deploying needs the operator role.")
    : empty
      ? t("There is nothing to deploy yet.")
      : current
        ? t(
            {
              id: "deployments.version_is_deployed_change",
              message: "Version {n} is deployed. Change the topology to deploy the next one.",
            },
            { n: next },
          )
        : changed
          ? t("Saves version {n} and runs it", { n: next })
          : t("Compiles, checks and runs version {n}", { n: next });
  const off = !allowed || empty || current;
  // Until then, the version may be running already.
  const known = useIsKnown();
  const chosen = settings !== null || !continues(beginning);
  const values: DeploymentSettings = settings ?? { ...deployment?.settings };

  return (
    <div className={classes.split}>
      {question === null ? null : (
        <Suspense>
          <TopicsDialog question={question} />
        </Suspense>
      )}
      <Tip text={reason}>
        <Button
          ref={main}
          variant={known ? "filled" : "default"}
          className={classes.splitMain}
          loading={deploying}
          data-disabled={off || undefined}
          aria-disabled={off}
          onClick={() => {
            if (!off) void deployNow(settings);
          }}
          data-testid="deploy"
        >
          {title}
        </Button>
      </Tip>
      <Popover
        opened={opened}
        onChange={options.toggle}
        position="bottom-end"
        width={280}
        trapFocus
        closeOnEscape={false}
        clickOutsideEvents={["pointerdown"]}
      >
        <Popover.Target>
          <ActionIcon
            ref={arrow}
            variant={off || !known ? "default" : "filled"}
            color="accent"
            className={classes.splitMore}
            data-off={off || undefined}
            aria-label={t("Deployment options")}
            aria-expanded={opened}
            disabled={!allowed || empty}
            onClick={options.toggle}
            data-testid="deploy-options"
          >
            <IconChevronDown size={16} stroke={1.5} />
          </ActionIcon>
        </Popover.Target>
        <Popover.Dropdown className={classes.options}>
          <Suspense fallback={<Loading />}>
            <DeployOptions
              values={values}
              fresh={beginsAnew(deployment)}
              runsPlain={isPlain(deployment?.settings)}
              onChange={setSettings}
              beginning={beginning}
              onBeginning={setBeginning}
            />
          </Suspense>
          <div className={classes.optionsEnd}>
            <Button
              variant="filled"
              fullWidth
              disabled={
                (off && !(current && chosen)) ||
                problemOf(beginning) !== null ||
                placeProblem(values) !== null
              }
              onClick={() => {
                options.close();
                setBeginning(CONTINUES);
                void deployNow(values, requestOf(beginning));
              }}
              data-testid="deploy-with-options"
            >
              {current && chosen ? t("Redeploy with these options") : title}
            </Button>
            {deployment === null ? null : (
              <Suspense>
                <Promotions deployment={deployment} onChosen={options.close} />
              </Suspense>
            )}
          </div>
        </Popover.Dropdown>
      </Popover>
    </div>
  );
}
