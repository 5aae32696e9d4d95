import { Button } from "@mantine/core";

/** A button in the note of a failure. */
export const FailureButton = Button.withProps({
  variant: "subtle",
  color: "red",
  size: "compact-sm",
});
