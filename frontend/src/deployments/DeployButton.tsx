import { ActionIcon, Button, NumberInput, Popover, Select } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import IconChevronDown from "@tabler/icons-react/dist/esm/icons/IconChevronDown.mjs";
import { useState } from "react";
import type { DeploymentSettings } from "../api/types";
import { t } from "../app/phrases";
import { tell, tellError } from "../app/tell";
import { useDesigner } from "../designer/store";
import { useView } from "../designer/view";
import { deployDrawing, useEditing } from "../pages/editing";
import { useLive } from "../runtime/store";
import { Tip } from "../ui";
import classes from "./deployments.module.css";
import { showSteps } from "./steps";
import { REAL_TIME_MS, TRIGGERS, triggerOf, withTrigger } from "./trigger";

/** Errors of the drawing that keep it from being compiled or deployed. */
function blockers(): number {
  const diagnostics = useDesigner.getState().result?.diagnostics ?? [];
  return diagnostics.filter((each) => each.severity === "error").length;
}

/** Saves if there are changes, then deploys. Used by the button and by the command. */
export async function deployNow(settings: DeploymentSettings | null): Promise<void> {
  const errors = blockers();
  if (errors > 0) {
    useView.getState().openBottom("problems");
    tell(
      errors === 1
        ? t("One problem stands in the way of a deployment.")
        : t("{n} problems stand in the way of a deployment.", { n: errors }),
    );
    return;
  }
  try {
    if ((await deployDrawing(settings, t("Deployed"))) !== null) {
      useDesigner.getState().setLayer("runtime");
      showSteps();
    }
  } catch (error) {
    tellError(error, t("Not deployed"));
  }
}

/** "Deploy v7" with its options behind the arrow. */
export function DeployButton({ allowed }: { allowed: boolean }) {
  const { changed, baseVersion, deploying } = useEditing();
  const deployment = useLive((state) => state.deployment);
  const empty = useDesigner((state) => state.document.nodes.length === 0);
  const [opened, options] = useDisclosure(false);
  const [settings, setSettings] = useState<DeploymentSettings | null>(null);
  const next = changed || baseVersion === null ? (baseVersion ?? 0) + 1 : baseVersion;
  const current =
    deployment !== null &&
    deployment.desired === "running" &&
    deployment.observed !== "failed" &&
    deployment.version === baseVersion &&
    !changed;
  const title =
    changed || baseVersion === null ? t("Save and deploy") : t("Deploy v{n}", { n: next });
  const reason = !allowed
    ? t("Deploying needs the role of an operator.")
    : empty
      ? t("There is nothing to deploy yet.")
      : current
        ? t("Version {n} is deployed. Change the drawing to deploy the next one.", { n: next })
        : changed
          ? t("Saves version {n} and runs it", { n: next })
          : t("Compiles, checks and runs version {n}", { n: next });
  const off = !allowed || empty || current;
  const values: DeploymentSettings = settings ?? { ...deployment?.settings };
  const set = (change: DeploymentSettings) => setSettings({ ...values, ...change });
  const trigger = triggerOf(values);

  return (
    <div className={classes.split}>
      <Tip text={reason}>
        <Button
          variant="filled"
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
      >
        <Popover.Target>
          <ActionIcon
            variant={off ? "default" : "filled"}
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
          <Select
            label={t("Start from")}
            description={t("Where the topics are read from the first time.")}
            value={values.start ?? "earliest"}
            onChange={(value) => set({ start: value === "latest" ? "latest" : "earliest" })}
            data={[
              { value: "earliest", label: t("Earliest record") },
              { value: "latest", label: t("Latest record") },
            ]}
            comboboxProps={{ withinPortal: false }}
          />
          <Select
            label={t("Trigger")}
            description={
              trigger === "real-time"
                ? t(
                    "Milliseconds from record to result, at least once; state is kept every {n} s. Each task has a thread of its own, whatever the cores.",
                    { n: (values.real_time_ms ?? REAL_TIME_MS) / 1000 },
                  )
                : t("How often a micro-batch starts.")
            }
            value={trigger}
            onChange={(value) => setSettings(withTrigger(values, value ?? "0"))}
            data={TRIGGERS.map((each) => ({ ...each, label: t(each.label) }))}
            comboboxProps={{ withinPortal: false }}
          />
          <div className={classes.pair}>
            <NumberInput
              label={t("Cores")}
              min={1}
              max={64}
              value={values.cores ?? 2}
              onChange={(value) => set({ cores: Number(value) || 1 })}
            />
            <NumberInput
              label={t("Memory, MB")}
              min={512}
              max={65536}
              step={256}
              value={values.memory_mb ?? 1024}
              onChange={(value) => set({ memory_mb: Number(value) || 1024 })}
            />
          </div>
          <Button
            variant="filled"
            fullWidth
            disabled={off && !(current && settings !== null)}
            onClick={() => {
              options.close();
              void deployNow(values);
            }}
          >
            {current && settings !== null ? t("Deploy again with these") : title}
          </Button>
        </Popover.Dropdown>
      </Popover>
    </div>
  );
}
