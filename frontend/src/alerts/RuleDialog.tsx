import { NumberInput, Select, Switch, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { createAlertRule, replaceAlertRule } from "../api/alertCalls";
import { type ApiError, asApiError } from "../api/client";
import { listTopologies } from "../api/topologyCalls";
import type { AlertRule, NewAlertRule } from "../api/types";
import { Note } from "../ui";
import { DialogEnd } from "../ui/DialogEnd";
import { t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import pages from "../ui/pages.module.css";
import classes from "./alerts.module.css";
import { CONDITIONS, type Condition, conditionOf } from "./conditions";

const NEW: NewAlertRule = {
  name: "",
  topology: null,
  condition: "lag_time",
  threshold: 60,
  for_seconds: 60,
  webhook: "",
  mail: [],
  enabled: true,
};

/** Fields that show what is wrong in them. */
const SHOWN = ["name", "topology", "threshold", "for_seconds", "webhook", "mail"];

interface Asked {
  readonly ws: string;
  readonly rule: AlertRule | null;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

/** Creates or edits an alert rule. */
export function RuleDialog({ onClose, onSaved, rule, ws }: Asked) {
  const [values, setValues] = useState<NewAlertRule>(rule ?? NEW);
  const [mail, setMail] = useState((rule?.mail ?? []).join("\n"));
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const topologies = useQuery({
    queryKey: ["topologies", ws, "names"],
    queryFn: () => listTopologies(ws, { ordering: "name", page_size: 200 }),
  });
  const set = (some: Partial<NewAlertRule>) => setValues({ ...values, ...some });
  const { unit } = conditionOf(values.condition);
  const wrong = (field: string) => error?.fields[field];

  const save = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    const content = {
      ...values,
      threshold: unit === undefined ? null : values.threshold,
      mail: mail.split(/[\s,;]+/).filter((each) => each !== ""),
    };
    try {
      await (rule === null ? createAlertRule(ws, content) : replaceAlertRule(rule.id, content));
      onSaved();
    } catch (failure) {
      setError(asApiError(failure));
      setBusy(false);
    }
  };

  return (
    <Modal
      opened
      onClose={onClose}
      title={rule === null ? t("New rule") : t("Edit the rule")}
      size={520}
    >
      <form onSubmit={(event) => void save(event)} className={pages.form} data-testid="rule-form">
        <TextInput
          label={t("Name")}
          value={values.name}
          onChange={(event) => set({ name: event.currentTarget.value })}
          maxLength={150}
          required
          data-autofocus
          error={wrong("name")}
        />
        <Select
          label={t("Topology")}
          placeholder={t("All deployments")}
          value={values.topology === null ? null : String(values.topology)}
          onChange={(id) => set({ topology: id === null ? null : Number(id) })}
          data={(topologies.data?.results ?? []).map((each) => ({
            value: String(each.id),
            label: each.name,
          }))}
          clearable
          searchable
          error={wrong("topology")}
        />
        <Select
          label={t("Condition")}
          value={values.condition}
          onChange={(id) => (id === null ? undefined : set({ condition: id as Condition }))}
          data={CONDITIONS.map((each) => ({ value: each.id, label: t(each.title) }))}
          maxDropdownHeight={360}
        />
        <div className={classes.two}>
          {unit === undefined ? null : (
            <NumberInput
              label={t("Above")}
              suffix={` ${t(unit)}`}
              value={values.threshold ?? ""}
              onChange={(value) => set({ threshold: value === "" ? null : Number(value) })}
              min={0}
              error={wrong("threshold")}
            />
          )}
          <NumberInput
            label={t("For")}
            suffix={` ${t("s")}`}
            value={values.for_seconds}
            onChange={(value) => set({ for_seconds: Number(value) || 0 })}
            min={0}
            max={604_800}
            allowDecimal={false}
            error={wrong("for_seconds")}
          />
        </div>
        <TextInput
          label={t("Webhook")}
          description={t({
            id: "alerts.address_that_receives_post",
            message:
              "An address that receives a POST request with JSON when an alert fires or is resolved.",
          })}
          placeholder="https://"
          value={values.webhook}
          onChange={(event) => set({ webhook: event.currentTarget.value.trim() })}
          maxLength={1000}
          error={wrong("webhook")}
        />
        <Textarea
          label={t("Mail")}
          description={t("One address per line.")}
          value={mail}
          onChange={(event) => setMail(event.currentTarget.value)}
          rows={2}
          error={wrong("mail")}
        />
        <Switch
          label={t("On")}
          checked={values.enabled}
          onChange={(event) => set({ enabled: event.currentTarget.checked })}
        />
        {error === null || SHOWN.some((field) => error.fields[field] !== undefined) ? null : (
          <Note tone="failed">{error.text}</Note>
        )}
        <DialogEnd
          onCancel={onClose}
          type="submit"
          loading={busy}
          disabled={values.name.trim() === ""}
          data-testid="save-rule"
        >
          {t("Save")}
        </DialogEnd>
      </form>
    </Modal>
  );
}
