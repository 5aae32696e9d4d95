import { Button, Popover } from "@mantine/core";
import { useState } from "react";
import { DialogEnd } from "./DialogEnd";
import classes from "./pages.module.css";

/** A button with a confirmation, for actions that cannot be undone but do not justify typing a name. */
export function Confirm(props: {
  /** The label of the button. */
  title: string;
  /** Explains what will be lost. */
  question: string;
  /** The label of the button that confirms. */
  action: string;
  busy: boolean;
  onConfirm: () => void;
  testId?: string;
}) {
  const { action, busy, onConfirm, question, testId, title } = props;
  const [asked, setAsked] = useState(false);
  return (
    <Popover
      opened={asked}
      onChange={setAsked}
      position="bottom-end"
      width="max-content"
      trapFocus
      returnFocus
    >
      <Popover.Target>
        <Button
          variant="subtle"
          color="red"
          loading={busy}
          onClick={() => setAsked(!asked)}
          data-testid={testId}
        >
          {title}
        </Button>
      </Popover.Target>
      <Popover.Dropdown className={classes.confirm}>
        <p>{question}</p>
        <DialogEnd
          onCancel={() => setAsked(false)}
          color="red"
          onClick={() => {
            setAsked(false);
            onConfirm();
          }}
          data-testid={testId === undefined ? undefined : `${testId}-now`}
        >
          {action}
        </DialogEnd>
      </Popover.Dropdown>
    </Popover>
  );
}
