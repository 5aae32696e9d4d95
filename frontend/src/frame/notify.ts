/** Short messages at the corner of the page. */

import { notifications } from "@mantine/notifications";
import { ApiError } from "../api/client";
import { isMissingPart, useOutdated } from "../ui/reach";

export function notify(message: string, title?: string): void {
  notifications.show({ message, ...(title === undefined ? {} : { title }) });
}

/** Shows a message for a moment, in place of the last one with the same id. */
export function notifyLatest(id: string, message: string): void {
  notifications.hide(id);
  notifications.show({ id, message, autoClose: 2_500 });
}

/** Shows an error and its hint; errors of form fields are shown by the form. */
export function notifyError(error: unknown, title?: string): void {
  // It is said once, with a button that reloads the page.
  if (isMissingPart(error) && useOutdated.getState().outdated) return;
  const hint = error instanceof ApiError && error.hint !== null ? ` ${error.hint}` : "";
  const message = error instanceof Error ? `${error.message}${hint}` : String(error);
  notifications.show({
    message,
    color: "red",
    autoClose: 10_000,
    ...(title === undefined ? {} : { title }),
  });
}
