import { Button, Modal, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ApiError } from "../api/client";
import { deleteTopology } from "../api/topologyCalls";
import type { TopologySummary } from "../api/types";
import { notify } from "../app/notify";
import { Note } from "../ui";
import { t } from "../ui/i18n";
import classes from "../ui/pages.module.css";

/** Deletes only after its name was typed. */
export function DeleteDialog(props: {
  ws: string;
  topology: TopologySummary;
  onClose: () => void;
}) {
  const { ws, topology, onClose } = props;
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const queries = useQueryClient();
  const running = topology.deployment !== null && topology.deployment.desired === "running";

  const remove = async (event: FormEvent) => {
    event.preventDefault();
    if (typed !== topology.name) return;
    setBusy(true);
    try {
      await deleteTopology(topology.id);
      await queries.invalidateQueries({ queryKey: ["topologies", ws] });
      notify(t("“{name}” was deleted.", { name: topology.name }));
      onClose();
    } catch (failure) {
      setError(failure instanceof ApiError ? failure : new ApiError(0, null));
      setBusy(false);
    }
  };

  return (
    <Modal
      opened
      onClose={onClose}
      title={t("Delete “{name}”", { name: topology.name })}
      size={440}
    >
      <form onSubmit={(event) => void remove(event)} className={classes.form}>
        <p>
          {t(
            "This also deletes all its versions and drafts, and cannot be undone. Topics in Kafka are kept.",
          )}
        </p>
        {running ? <Note tone="degraded">{t("It is deployed. Stop it first.")}</Note> : null}
        <TextInput
          label={t("Type its name to confirm")}
          placeholder={topology.name}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          data-autofocus
        />
        {error === null ? null : (
          <Note tone="failed">
            {error.message} {error.hint}
          </Note>
        )}
        <div className={classes.formEnd}>
          <Button onClick={onClose}>{t("Cancel")}</Button>
          <Button
            type="submit"
            color="red"
            variant="filled"
            loading={busy}
            disabled={typed !== topology.name}
          >
            {t("Delete")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
