import { Button, Textarea } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { type ApiError, asApiError } from "../api/client";
import { useDesigner } from "../designer/store";
import { notify } from "../frame/notify";
import { Keys, Note } from "../ui";
import { t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import classes from "../ui/pages.module.css";
import { changesBetween } from "../versions/changes";
import { proposedMessage, saveVersion, useEditing } from "../versions/editing";

/** Saves an immutable version with a message. A document with errors can be saved, too. */
export function SaveDialog() {
  const { baseVersion, baseDocument, saving } = useEditing();
  const document = useDesigner((state) => state.document);
  const errors = useDesigner(
    (state) => state.result?.diagnostics.filter((each) => each.severity === "error").length ?? 0,
  );
  const proposal = changesBetween(baseDocument, document);
  const [message, setMessage] = useState("");
  const [error, setError] = useState<ApiError | null>(null);
  const close = () => useEditing.setState({ dialog: null });
  const next = (baseVersion ?? 0) + 1;

  const submit = async (event?: FormEvent) => {
    event?.preventDefault();
    setError(null);
    try {
      const version = await saveVersion(message.trim() || proposedMessage());
      if (version !== null) notify(t("Version {n} is saved.", { n: version.number }));
    } catch (failure) {
      setError(asApiError(failure));
    }
  };

  return (
    <Modal opened onClose={close} title={t("Save version {n}", { n: next })} size={440}>
      <form onSubmit={(event) => void submit(event)} className={classes.form}>
        <Textarea
          label={t("What changed")}
          placeholder={proposal || t("in a few words")}
          value={message}
          onChange={(event) => setMessage(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void submit();
          }}
          autosize
          minRows={2}
          maxRows={6}
          data-autofocus
          data-testid="version-message"
        />
        {errors > 0 ? (
          <Note tone="degraded">
            {t(
              {
                id: "pages.problems_are_open_you",
                message:
                  "{n} {n, plural, one {problem is} other {problems are}} open. You can save, but not deploy.",
              },
              {
                n: errors,
              },
            )}
          </Note>
        ) : null}
        {error === null ? null : <Note tone="failed">{error.text}</Note>}
        <div className="ui-end">
          <Button onClick={close}>{t("Cancel")}</Button>
          <Button
            type="submit"
            variant="filled"
            loading={saving}
            rightSection={
              <span aria-hidden="true">
                <Keys keys="Mod+Enter" />
              </span>
            }
            data-testid="save-version"
          >
            {t("Save version {n}", { n: next })}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
