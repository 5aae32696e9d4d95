import { Button, Modal, Textarea } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { ApiError } from "../api/client";
import { t } from "../app/phrases";
import { tell } from "../app/tell";
import { useDesigner } from "../designer/store";
import { Note } from "../ui";
import { saveVersion, useEditing } from "./editing";
import { changesInWords, differences } from "./merge";
import classes from "./pages.module.css";

export function openSave(): void {
  if (useEditing.getState().topology !== null) useEditing.setState({ dialog: "save" });
}

/** Asks for a message and saves an immutable version. Errors in the drawing do not keep it from being saved. */
export function SaveDialog() {
  const { baseVersion, baseDocument, saving } = useEditing();
  const document = useDesigner((state) => state.document);
  const errors = useDesigner(
    (state) => state.result?.diagnostics.filter((each) => each.severity === "error").length ?? 0,
  );
  const proposal = changesInWords(
    differences(baseDocument, document, baseDocument ?? { ...document, nodes: [], edges: [] }),
  );
  const [message, setMessage] = useState("");
  const [error, setError] = useState<ApiError | null>(null);
  const close = () => useEditing.setState({ dialog: null });
  const next = (baseVersion ?? 0) + 1;

  const submit = async (event?: FormEvent) => {
    event?.preventDefault();
    setError(null);
    try {
      const version = await saveVersion(message.trim() || proposal || t("Saved"));
      if (version !== null) tell(t("Version {n} is saved.", { n: version.number }));
    } catch (failure) {
      setError(failure instanceof ApiError ? failure : new ApiError(0, null));
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
            {errors === 1
              ? t("One problem is open. It can be saved, but not deployed.")
              : t("{n} problems are open. It can be saved, but not deployed.", { n: errors })}
          </Note>
        ) : null}
        {error === null ? null : (
          <Note tone="failed">
            {error.message} {error.hint}
          </Note>
        )}
        <div className={classes.formEnd}>
          <Button onClick={close}>{t("Cancel")}</Button>
          <Button type="submit" variant="filled" loading={saving} data-testid="save-version">
            {t("Save version {n}", { n: next })}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
