import { NumberInput, Select, Switch, TextInput } from "@mantine/core";
import type { DeploymentSettings } from "../api/types";
import { useDesigner } from "../designer/store";
import { ENVIRONMENTS, type Environment, parametersOf } from "../graph/parameters";
import { isPlain } from "../live/dialect";
import { useLive } from "../live/store";
import { t } from "../ui/i18n";
import { BeginningFields } from "./BeginningFields";
import { type Beginning, CONTINUES } from "./beginning";
import { DialectField } from "./DialectField";
import classes from "./deployments.module.css";
import { JVMS, sharesJvm, withJvm } from "./jvm";
import { LOST, lostOf, withLost } from "./lost";
import { placeProblem, withPlace } from "./place";
import { withStandby } from "./standby";
import { STARTS, startOf, withStart } from "./start";
import { REAL_TIME_MS, triggerOf, triggersOf, withTrigger } from "./trigger";

/** The settings of a deployment and where it starts to read. */
export function DeployOptions(props: {
  values: DeploymentSettings;
  fresh: boolean;
  /** Whether the deployed version is plain PySpark. A change of dialect always continues where it stopped. */
  runsPlain: boolean;
  onChange: (values: DeploymentSettings) => void;
  beginning: Beginning;
  onBeginning: (beginning: Beginning) => void;
  /** The environment cannot be chosen. */
  fixed?: boolean;
}) {
  const { values, fresh, onChange } = props;
  const set = (change: DeploymentSettings) => onChange({ ...values, ...change });
  const parametrized = useDesigner((state) => parametersOf(state.document).length > 0);
  const taken = useLive((state) => state.deployments);
  const shown = useLive((state) => state.deployment?.id);
  const trigger = triggerOf(values);
  const plain = isPlain(values);
  const shared = sharesJvm(values);
  const size = (
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
  );
  const dialect = (
    <DialectField
      values={values}
      onChange={(next) => {
        props.onBeginning(CONTINUES);
        onChange(next);
      }}
    />
  );
  return (
    <>
      {!props.fixed && (parametrized || values.environment !== undefined) ? (
        <Select
          label={t("Environment")}
          description={t("The environment whose values the parameters have.")}
          placeholder={t("Defaults")}
          clearable
          value={values.environment ?? null}
          onChange={(value) => {
            const { environment: _old, ...others } = values;
            onChange(value === null ? others : { ...others, environment: value as Environment });
          }}
          data={ENVIRONMENTS.map((each) => ({
            value: each,
            label: each,
            // Another deployment of the topology has it.
            disabled: taken.some(
              ({ id, settings }) => id !== shown && settings.environment === each,
            ),
          }))}
          comboboxProps={{ withinPortal: false }}
          data-testid="environment"
        />
      ) : null}
      {dialect}
      {fresh ? (
        <Select
          label={t("Start from")}
          description={t({
            id: "deployments.where_first_run_starts",
            message:
              "Where the first run starts reading streams and tables. Global tables are always read from the beginning.",
          })}
          value={startOf(values)}
          onChange={(value) => onChange(withStart(values, value))}
          data={STARTS.map((each) => ({ ...each, label: t(each.label) }))}
          comboboxProps={{ withinPortal: false }}
          data-testid="first-start"
        />
      ) : plain === props.runsPlain ? (
        <BeginningFields value={props.beginning} plain={plain} onChange={props.onBeginning} />
      ) : null}
      <Select
        label={t("Trigger")}
        description={
          trigger === "real-time"
            ? t(
                {
                  id: "deployments.millisecond_latency_at_least",
                  message:
                    "Millisecond latency, at least once; state is saved every {n} s. Each task has its own thread, regardless of the number of cores.",
                },
                { n: (values.real_time_ms ?? REAL_TIME_MS) / 1000 },
              )
            : t("How often a micro-batch starts.")
        }
        value={trigger}
        onChange={(value) => onChange(withTrigger(values, value ?? "0"))}
        data={triggersOf(values).map((each) => ({ ...each, label: t(each.label) }))}
        comboboxProps={{ withinPortal: false }}
      />
      {plain || (!fresh && values.checkpoint) ? null : (
        <Select
          label={t("JVM")}
          description={
            shared
              ? t({
                  id: "deployments.needs_fraction_of_memory",
                  message:
                    "Needs a fraction of the memory. If its JVM ends, all that share it start again; topologies with Python code or readers of files get their own.",
                })
              : t("Its memory and threads are its own.")
          }
          value={shared ? "shared" : "own"}
          onChange={(value) => onChange(withJvm(values, value))}
          data={JVMS.map((each) => ({ ...each, label: t(each.label) }))}
          comboboxProps={{ withinPortal: false }}
          allowDeselect={false}
          data-testid="jvm"
        />
      )}
      {shared ? null : size}
      {shared || plain ? null : (
        <Switch
          label={t("Standby")}
          description={t({
            id: "deployments.second_driver_takes_over",
            message:
              "A second driver is kept ready and takes over when the first one is lost. It needs the same memory again.",
          })}
          checked={values.standby === true}
          onChange={(event) => onChange(withStandby(values, event.currentTarget.checked))}
          data-testid="standby-setting"
        />
      )}
      {plain ? null : (
        <Select
          label={t("Lost offsets")}
          description={t({
            id: "deployments.if_broker_has_deleted",
            message:
              "If the broker has deleted the next records, a topic was recreated, or the checkpoint is missing.",
          })}
          value={lostOf(values)}
          onChange={(value) => onChange(withLost(values, value))}
          data={LOST.map((each) => ({ ...each, label: t(each.label) }))}
          comboboxProps={{ withinPortal: false }}
          data-testid="lost-offsets"
        />
      )}
      {(fresh && !shared) || values.checkpoint ? (
        <TextInput
          label={t("Checkpoint")}
          description={t({
            id: "deployments.where_state_and_offsets",
            message:
              "Where state and offsets are stored: a URI such as s3a://bucket/folder. Empty: the server's data folder. Cannot be changed once there is state.",
          })}
          placeholder="s3a://bucket/folder"
          disabled={!fresh}
          value={values.checkpoint ?? ""}
          error={placeProblem(values)}
          onChange={(event) => onChange(withPlace(values, event.currentTarget.value))}
          data-testid="checkpoint"
        />
      ) : null}
    </>
  );
}
