import { NumberInput, Select, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useNavigate } from "react-router";
import { asApiError } from "../api/client";
import { createTopics, listTopicFigures } from "../api/topicCalls";
import { topicAddress } from "../frame/addresses";
import { Note } from "../ui";
import { DialogEnd } from "../ui/DialogEnd";
import { t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import pages from "../ui/pages.module.css";
import { newTopic, RETENTIONS } from "./newTopic";

/** Asks for a name, partitions and retention, and opens the topic. */
export function CreateTopicDialog({ ws, onClose }: { ws: string; onClose: () => void }) {
  const [name, setName] = useState("");
  const [partitions, setPartitions] = useState(1);
  const [retention, setRetention] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const queries = useQueryClient();
  const navigate = useNavigate();

  const create = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const alike = await listTopicFigures(ws, { search: name, page_size: 200 });
      const taken = alike.results.some((each) => each.name === name);
      if (taken) {
        setError(t("The topic “{name}” already exists.", { name }));
        return;
      }
      await createTopics(ws, [newTopic(name, partitions, retention)]);
      await queries.invalidateQueries({ queryKey: ["topic-figures", ws] });
      void navigate(topicAddress(ws, name));
    } catch (failure) {
      setError(asApiError(failure).text);
    } finally {
      setBusy(false);
    }
  };

  return (
    <Modal opened onClose={onClose} title={t("New topic")} size={440}>
      <form onSubmit={(event) => void create(event)} className={pages.form}>
        <TextInput
          label={t("Name")}
          description={t("Letters, digits, dots, hyphens and underscores.")}
          value={name}
          onChange={(event) => setName(event.currentTarget.value.trim())}
          maxLength={249}
          autoComplete="off"
          required
          data-autofocus
          data-testid="topic-name"
        />
        <NumberInput
          label={t("Partitions")}
          value={partitions}
          onChange={(value) => setPartitions(Number(value) || 1)}
          min={1}
          max={1000}
          allowDecimal={false}
        />
        <Select
          label={t("Keep records for")}
          value={retention}
          onChange={(value) => setRetention(value ?? "")}
          data={RETENTIONS.map((each) => ({ value: each.value, label: t(each.label) }))}
        />
        {error === null ? null : <Note tone="failed">{error}</Note>}
        <DialogEnd
          onCancel={onClose}
          type="submit"
          loading={busy}
          disabled={!/^[\w.-]+$/.test(name)}
          data-testid="create-topic"
        >
          {t("Create")}
        </DialogEnd>
      </form>
    </Modal>
  );
}
