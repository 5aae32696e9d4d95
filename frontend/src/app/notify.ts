/** Short messages at the corner of the page. */

import { notifications } from "@mantine/notifications";
import { ApiError } from "../api/client";

export function notify(message: string, title?: string): void {
  notifications.show({ message, ...(title === undefined ? {} : { title }) });
}

/** What happened and what to do; the fields of a form show their own errors. */
export function notifyError(error: unknown, title?: string): void {
  const hint = error instanceof ApiError && error.hint !== null ? ` ${error.hint}` : "";
  const message = error instanceof Error ? `${error.message}${hint}` : String(error);
  notifications.show({
    message,
    color: "red",
    autoClose: 10_000,
    ...(title === undefined ? {} : { title }),
  });
}
