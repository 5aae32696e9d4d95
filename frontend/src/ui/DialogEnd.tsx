import { Button, type ButtonProps } from "@mantine/core";
import type { ComponentPropsWithoutRef } from "react";
import { t } from "./i18n";

type Action = ButtonProps & Omit<ComponentPropsWithoutRef<"button">, keyof ButtonProps>;

/** The buttons of a dialog: one that cancels, and one that performs the dialog's action. */
export function DialogEnd({ onCancel, ...action }: Action & { onCancel: () => void }) {
  return (
    <div className="ui-end">
      <Button onClick={onCancel}>{t("Cancel")}</Button>
      <Button variant="filled" {...action} />
    </div>
  );
}
