import { ActionIcon, Autocomplete, Button, TextInput } from "@mantine/core";
import IconX from "@tabler/icons-react/dist/esm/icons/IconX.mjs";
import { useMemo, useState } from "react";
import { asApiError } from "../api/client";
import { removeSchedule, setSchedule } from "../api/deploymentCalls";
import type { Deployment, ScheduleTimes } from "../api/types";
import { useLive } from "../live/store";
import { Note } from "../ui";
import { Confirm } from "../ui/Confirm";
import { localZone } from "../ui/format";
import { t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import change from "./change.module.css";
import { DAYS, openSchedule, problemOfTimes } from "./schedule";
import own from "./schedule.module.css";

const WEEKDAYS: ScheduleTimes = { days: [1, 2, 3, 4, 5], start: "08:00", stop: "18:00" };
/** The most zones to suggest at once. */
const SUGGESTED = 30;
const MOST_TIMES = 20;

/** Sets the times at which the shown deployment is started and stopped. */
export function ScheduleDialog() {
  const deployment = useLive((state) => state.deployment);
  return deployment === null ? null : <Schedule deployment={deployment} />;
}

function Schedule({ deployment }: { deployment: Deployment }) {
  const { schedule } = deployment;
  const [before] = useState(() => ({
    times: schedule?.times ?? [WEEKDAYS],
    zone: schedule?.zone ?? localZone(),
  }));
  const [times, setTimes] = useState<readonly ScheduleTimes[]>(before.times);
  const [zone, setZone] = useState(before.zone);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const zones = useMemo(() => ["UTC", ...Intl.supportedValuesOf("timeZone")], []);
  const problem = times.map(problemOfTimes).find((each) => each !== null) ?? null;
  // A slip of the pointer does not discard what was entered; Cancel does.
  const changed = times !== before.times || zone !== before.zone;
  const close = () => openSchedule(false);
  const send = async (how: () => Promise<Deployment>) => {
    setBusy(true);
    setError(null);
    try {
      useLive.getState().receive({ type: "deployment.changed", data: await how() });
      close();
    } catch (failed) {
      setError(asApiError(failed).text);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal
      opened
      onClose={close}
      closeOnClickOutside={!changed}
      closeOnEscape={!changed}
      title={t("Schedule")}
      size={560}
    >
      <div className={change.body} data-testid="schedule">
        <p>
          {t({
            id: "deployments.schedule_in_your_name",
            message:
              "The deployment is started and stopped at these times, in your name. What people do in between stays until the next time.",
          })}
        </p>
        <div className={own.rows}>
          {times.map((row, index) => (
            <Row
              key={index}
              times={row}
              onChange={(next) => setTimes(times.with(index, next))}
              onRemove={times.length === 1 ? null : () => setTimes(times.toSpliced(index, 1))}
            />
          ))}
        </div>
        <div className={own.end}>
          <Button
            variant="subtle"
            px={8}
            disabled={times.length >= MOST_TIMES}
            onClick={() => setTimes([...times, { ...WEEKDAYS, days: [6, 7] }])}
          >
            {t("Add times")}
          </Button>
          <Autocomplete
            className={own.zone}
            aria-label={t("Time zone")}
            data={zones}
            limit={SUGGESTED}
            value={zone}
            error={zone === ""}
            onChange={setZone}
          />
        </div>
        {error === null ? null : <Note tone="failed">{error}</Note>}
        <div className="ui-end">
          {schedule === null ? null : (
            <Confirm
              title={t("Remove…")}
              question={t("Its times are deleted. The deployment stays as it is.")}
              action={t("Remove the schedule")}
              busy={busy}
              onConfirm={() => void send(() => removeSchedule(deployment.id))}
              testId="schedule-remove"
            />
          )}
          <span className="ui-space" />
          {problem === null ? null : <span className={own.problem}>{problem}</span>}
          <Button onClick={close}>{t("Cancel")}</Button>
          <Button
            variant="filled"
            loading={busy}
            disabled={problem !== null || zone === ""}
            onClick={() => void send(() => setSchedule(deployment.id, { times: [...times], zone }))}
            data-testid="schedule-save"
          >
            {t("Save")}
          </Button>
        </div>
      </div>
    </Modal>
  );
}

function Row(props: {
  times: ScheduleTimes;
  onChange: (times: ScheduleTimes) => void;
  onRemove: (() => void) | null;
}) {
  const { onChange, onRemove, times } = props;
  const { days, start, stop } = times;
  const toggle = (day: number) =>
    onChange({
      ...times,
      days: days.includes(day)
        ? days.filter((each) => each !== day)
        : [...days, day].sort((a, b) => a - b),
    });
  return (
    <div className={own.row}>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields of a form */}
      <div role="group" aria-label={t("Days")} className={own.days}>
        {[...DAYS].map(([day, name]) => (
          <button
            key={day}
            type="button"
            className={own.day}
            aria-pressed={days.includes(day)}
            onClick={() => toggle(day)}
          >
            {t(name)}
          </button>
        ))}
      </div>
      <TextInput
        className={own.time}
        aria-label={t("Start")}
        value={start}
        maxLength={5}
        onChange={(event) => onChange({ ...times, start: event.currentTarget.value })}
      />
      <span aria-hidden>–</span>
      <TextInput
        className={own.time}
        aria-label={t("Stop")}
        value={stop}
        maxLength={5}
        onChange={(event) => onChange({ ...times, stop: event.currentTarget.value })}
      />
      <span className={own.next}>{stop <= start && stop !== "" ? t("next day") : ""}</span>
      <ActionIcon
        size={26}
        aria-label={t("Remove these times")}
        disabled={onRemove === null}
        onClick={() => onRemove?.()}
      >
        <IconX size={16} stroke={1.5} />
      </ActionIcon>
    </div>
  );
}
