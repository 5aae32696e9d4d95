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
  /** By default with the name. */
  title?: string;
  /** It cannot be deleted now; `children` say why. */
  refused?: boolean;
  busy: boolean;
  error: Error | null;
  onDelete: () => void;
  onClose: () => void;
  children: ReactNode;
}) {
  const { name, busy, onDelete, onClose, children, refused = false } = props;
  const error = props.error === null ? null : asApiError(props.error);
  const [typed, setTyped] = useState("");
  return (
    <Modal
      opened
      onClose={onClose}
      title={props.title ?? t("Delete “{name}”", { name })}
      size={440}
    >
      <form
        className={classes.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (typed === name && !refused) onDelete();
        }}
      >
        {children}
        {refused ? null : (
          <TextInput
            label={
              props.title === undefined
                ? t("Type its name to confirm")
                : t("Type the name of the topology to confirm")
            }
            placeholder={name}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
            data-autofocus
          />
        )}
        {error === null ? null : <Note tone="failed">{error.text}</Note>}
        <DialogEnd
          onCancel={onClose}
          type="submit"
          color="red"
          loading={busy}
          disabled={typed !== name || refused}
        >
          {t("Delete")}
        </DialogEnd>
      </form>
    </Modal>
  );
}
