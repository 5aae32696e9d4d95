import { TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { asApiError } from "../api/client";
import { Note } from "../ui";
import { DialogEnd } from "../ui/DialogEnd";
import { t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import classes from "../ui/pages.module.css";

/** A dialog that deletes only after the name was typed. `children` explain what is deleted. */
export function DeleteByName(props: {
  name: string;
  busy: boolean;
  error: Error | null;
  onDelete: () => void;
  onClose: () => void;
  children: ReactNode;
}) {
  const { name, busy, onDelete, onClose, children } = props;
  const error = props.error === null ? null : asApiError(props.error);
  const [typed, setTyped] = useState("");
  return (
    <Modal opened onClose={onClose} title={t("Delete “{name}”", { name })} size={440}>
      <form
        className={classes.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (typed === name) onDelete();
        }}
      >
        {children}
        <TextInput
          label={t("Type its name to confirm")}
          placeholder={name}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          data-autofocus
        />
        {error === null ? null : <Note tone="failed">{error.text}</Note>}
        <DialogEnd
          onCancel={onClose}
          type="submit"
          color="red"
          loading={busy}
          disabled={typed !== name}
        >
          {t("Delete")}
        </DialogEnd>
      </form>
    </Modal>
  );
}
