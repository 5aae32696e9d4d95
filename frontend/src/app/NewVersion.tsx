import { ActionIcon, Button } from "@mantine/core";
import IconRefresh from "@tabler/icons-react/dist/esm/icons/IconRefresh.mjs";
import IconX from "@tabler/icons-react/dist/esm/icons/IconX.mjs";
import { useState } from "react";
import classes from "../frame/frame.module.css";
import { t, useLanguage } from "../ui/i18n";
import { useOutdated } from "../ui/reach";

/** Offers to reload when the server has a newer page. Until then, the page stays as it is, with what was typed. */
export function NewVersion() {
  useLanguage();
  const { outdated } = useOutdated();
  const [closed, setClosed] = useState(false);
  return (
    <output>
      {outdated && !closed ? (
        <div className={classes.newer} data-testid="new-version">
          <IconRefresh size={16} stroke={1.5} />
          <span className={classes.newerText}>
            <b>{t("A new version of the page is available.")}</b>
            <span>
              {t({
                id: "app.some_parts_cannot_be_opened",
                message:
                  "Some parts cannot be opened until you reload. Drawings are saved; finish open dialogs first.",
              })}
            </span>
          </span>
          <Button size="xs" onClick={() => location.reload()}>
            {t("Reload")}
          </Button>
          <ActionIcon size={22} aria-label={t("Close")} onClick={() => setClosed(true)}>
            <IconX size={13} stroke={1.5} />
          </ActionIcon>
        </div>
      ) : null}
    </output>
  );
}
