import { Button, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { ApiError } from "../api/client";
import { Note } from "../ui";
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
  const error =
    props.error === null || props.error instanceof ApiError ? props.error : new ApiError(0, null);
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
            disabled={typed !== name}
          >
            {t("Delete")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
