import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { t } from "../ui/i18n";
import { useEditing } from "../versions/editing";
import classes from "./deployments.module.css";

/** A red button that requires typing the topology's name, for actions that cannot be undone. */
export function ConfirmName(props: {
  label: string;
  action: string;
  busy: boolean;
  onConfirm: (name: string) => void;
  onCancel: () => void;
}) {
  const name = useEditing((state) => state.name);
  const [typed, setTyped] = useState("");
  return (
    <form
      className={classes.confirm}
      onSubmit={(event) => {
        event.preventDefault();
        if (typed === name) props.onConfirm(typed);
      }}
    >
      <TextInput
        label={props.label}
        placeholder={name}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        autoComplete="off"
        data-testid="confirm-name"
      />
      <Button
        type="submit"
        color="red"
        variant="filled"
        disabled={typed !== name}
        loading={props.busy}
        data-testid="confirm-delete"
      >
        {props.action}
      </Button>
      <Button variant="subtle" onClick={props.onCancel}>
        {t("Cancel")}
      </Button>
    </form>
  );
}
